"""DL404: a tensor that is copied to the CPU with `non_blocking=True` is read before it has arrived. Needs CUDA."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Need, Proof

PROOF = Proof(
    rule="DL404",
    needs=(Need.CUDA,),
    symptom="of 4 results some are read before they have arrived, and are wrong (needs CUDA)",
    cure="of 4 results none is wrong (needs CUDA)",
    before="""
    import probe
    import torch

    SIZE = 4096


    def predict(model, images):
        scores = model(images.to("cuda"))
        scores = scores.to("cpu", non_blocking=True)
        return scores.numpy()


    def slow(images):
        for _ in range(50):
            images = images @ identity
        return images


    if __name__ == "__main__":
        identity = torch.eye(SIZE, device="cuda")
        wrong = 0
        for number in range(1, 5):
            scores = predict(slow, torch.full((SIZE, SIZE), float(number)))
            wrong += not bool((scores == number).all())
            torch.cuda.synchronize()
        probe.say(results=4, wrong=wrong)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values["wrong"] > 0
    assert PROOF.run_after(tmp_path).values["wrong"] == 0
