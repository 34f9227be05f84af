"""DL603: a DistributedSampler that is never told the epoch."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL603",
    symptom="3 epochs go through the data in one and the same order, whatever the seed of torch",
    cure="3 epochs go through the data in 3 different orders",
    before="""
    import probe
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler


    def train(model, dataset, epochs):
        sampler = DistributedSampler(dataset, num_replicas=2, rank=0)
        loader = DataLoader(dataset, batch_size=4, sampler=sampler)
        orders = []
        for epoch in range(epochs):
            torch.manual_seed(epoch)
            order = []
            for rows in loader:
                model(rows).sum().backward()
                order += rows.flatten().tolist()
            orders.append(tuple(order))
        return orders


    if __name__ == "__main__":
        orders = train(torch.nn.Linear(1, 1), torch.arange(64.0).unsqueeze(1), epochs=3)
        probe.say(epochs=len(orders), orders=len(set(orders)))
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {"epochs": 3, "orders": 1}
    assert PROOF.run_after(tmp_path).values == {"epochs": 3, "orders": 3}
