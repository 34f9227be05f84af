"""DL214: workers are daemonic processes, which must not start others."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import START_METHODS, Proof

PROOF = Proof(
    rule="DL214",
    symptom="a Pool, a ProcessPoolExecutor, a Process, a Manager and a nested loader each raise in the worker",
    cure="threads give the same samples in the worker",
    before="""
    import concurrent.futures
    import multiprocessing

    import probe
    from torch.utils.data import DataLoader, Dataset


    class Ways(Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            try:
                return ["ok", str(WAYS[index]())]
            except AssertionError as error:
                return ["raised", str(error)]


    def with_pool():
        with multiprocessing.Pool(1) as pool:
            return pool.map(abs, [-1])


    def with_executor():
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            return list(pool.map(abs, [-1]))


    def with_process():
        process = multiprocessing.Process(target=abs, args=(-1,))
        process.start()
        process.join()
        return [1]


    def with_manager():
        return list(multiprocessing.Manager().list([1]))


    def with_loader():
        return [each.tolist() for each in DataLoader([1], batch_size=None, num_workers=1)]


    WAYS = [with_pool, with_executor, with_process, with_manager, with_loader]


    def samples():
        return [list(each) for each in DataLoader(Ways(), batch_size=None, num_workers=1)]


    if __name__ == "__main__":
        probe.attempt(samples)
    """,
    after="""
    import concurrent.futures

    import probe
    from torch.utils.data import DataLoader, Dataset


    class Ways(Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                return ["ok", str(list(pool.map(abs, [-1])))]


    def samples():
        return [list(each) for each in DataLoader(Ways(), batch_size=None, num_workers=1)]


    if __name__ == "__main__":
        probe.attempt(samples)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    results = PROOF.attempt_each(tmp_path, start_methods=START_METHODS)
    refused = ["raised", "daemonic processes are not allowed to have children"]
    for before, after in results.values():
        assert before == {"samples": [refused] * 5}
        assert after == {"samples": [["ok", "[1]"]]}
