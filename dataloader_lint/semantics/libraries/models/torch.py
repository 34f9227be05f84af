"""PyTorch, torchvision, torchaudio, and the packages that train with them."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

# What makes tensors of images, with the type that they get.
_OF_IMAGES = {"PILToTensor": "uint8", "ToTensor": "float32", "pil_to_tensor": "uint8", "to_tensor": "float32"}

ROWS = {
    "accelerate.utils.set_seed": Call(seeds="global"),
    "torch.FloatTensor": Call(gives="tensor", from_elements=True, dtype="float32"),
    "torch.Generator": Call(gives="rng"),
    "torch.LongTensor": Call(gives="tensor", from_elements=True, dtype="int64"),
    "torch.Tensor": Call(gives="tensor", from_elements=True, dtype="float32"),
    "torch.arange": Call(gives="tensor", on_default_device=True),
    "torch.as_tensor": Call(gives="tensor", from_elements=True, on_default_device=True),
    "torch.autograd.Variable": Call(gives_argument=True),
    "torch.backends.mps.is_available": Call(gives="bool"),
    "torch.cat": Call(gives="tensor", joins=True),
    "torch.concat": Call(joins=True),
    "torch.concatenate": Call(joins=True),
    "torch.cuda.is_available": Call(gives="bool"),
    "torch.empty": Call(gives="tensor", dtype="float32", on_default_device=True),
    "torch.eye": Call(gives="tensor", dtype="float32", on_default_device=True),
    "torch.flatten": Call(gives_argument=True),
    "torch.from_numpy": Call(gives="tensor"),
    "torch.full": Call(gives="tensor", on_default_device=True),
    "torch.hstack": Call(joins=True),
    "torch.hub.load": Call(builds="a model"),
    "torch.jit.load": Call(builds="a model"),
    "torch.linspace": Call(gives="tensor", on_default_device=True),
    "torch.load": Call(gives="object", reads=("path",)),
    "torch.logspace": Call(gives="tensor", on_default_device=True),
    "torch.lu": Call(hides_name=True),
    "torch.manual_seed": Call(seeds="global"),
    "torch.multiprocessing.Manager": Call(opens="a `multiprocessing.Manager`", starts="process"),
    "torch.multiprocessing.Pool": Call(opens="a pool of processes", shared="pool", starts="process"),
    "torch.multiprocessing.Process": Call(starts="process"),
    "torch.multiprocessing.cpu_count": Call(gives="int", positive=True, cpus="number"),
    "torch.multiprocessing.get_context": Call(starts="context"),
    "torch.multiprocessing.set_start_method": Call(sets_start_method=True),
    "torch.multiprocessing.spawn": Call(starts="process", spawns=True),
    "torch.multiprocessing.start_processes": Call(spawns=True),
    "torch.ones": Call(gives="tensor", dtype="float32", on_default_device=True),
    "torch.optim.swa_utils.update_bn": Call(iterates="now"),
    "torch.quantized_gru": Call(hides_name=True),
    "torch.quantized_lstm": Call(hides_name=True),
    "torch.rand": Call(gives="tensor", dtype="float32", on_default_device=True),
    "torch.randint": Call(gives="tensor", on_default_device=True),
    "torch.randn": Call(gives="tensor", dtype="float32", on_default_device=True),
    "torch.random.manual_seed": Call(seeds="global"),
    "torch.randperm": Call(gives="tensor", dtype="int64", on_default_device=True),
    "torch.reshape": Call(gives_argument=True),
    "torch.save": Call(copies_to_cpu=True),
    "torch.scalar_tensor": Call(gives="tensor", on_default_device=True),
    "torch.serialization.load": Call(gives="object"),
    "torch.squeeze": Call(gives_argument=True),
    "torch.stack": Call(gives="tensor", joins=True),
    "torch.tensor": Call(gives="tensor", from_elements=True, as_random_as_arguments=True, on_default_device=True),
    "torch.unique": Call(hides_name=True),
    "torch.unique_consecutive": Call(hides_name=True),
    "torch.unsqueeze": Call(gives_argument=True),
    "torch.utils.data.random_split": Call(stores_arguments=True),
    "torch.vstack": Call(joins=True),
    "torch.zeros": Call(gives="tensor", dtype="float32", on_default_device=True),
    "torch_geometric.loader.CachedLoader": Call(yields_argument=True),
    **{
        f"torchvision.transforms.{module}{name}": Call(dtype=dtype)
        for module in ("", "functional.", "v2.", "v2.functional.")
        for name, dtype in _OF_IMAGES.items()
    },
    "transformers.set_seed": Call(seeds="global"),
}
