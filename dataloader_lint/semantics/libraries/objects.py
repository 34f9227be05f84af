"""Library objects, as data: which store their arguments, are open handles, or have parameters."""

from __future__ import annotations

# Layers that have parameters, so that their output has a graph.
LAYERS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "Bilinear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "ConvTranspose1d",
        "ConvTranspose2d",
        "ConvTranspose3d",
        "Embedding",
        "EmbeddingBag",
        "GRU",
        "GRUCell",
        "GroupNorm",
        "LSTM",
        "LSTMCell",
        "LayerNorm",
        "Linear",
        "MultiheadAttention",
        "PReLU",
        "Parameter",
        "RNN",
        "Transformer",
        "TransformerDecoder",
        "TransformerEncoder",
        "TransformerEncoderLayer",
    )
)

# What the names of functions begin with that make whole networks, whose parameters need gradients.
NETWORKS = ("timm.create_model", "torchvision.models.")

# Arguments that a constructor does not store, by the last part of its name.
ARGUMENTS_NOT_STORED = frozenset({("DatasetFolder", "is_valid_file"), ("ImageFolder", "is_valid_file")})
