"""Tokenizers, models and decoders that libraries load."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "sentence_transformers.SentenceTransformer": Call(builds="a model"),
    "spacy.load": Call(builds="a pipeline"),
    "transformers.AutoFeatureExtractor.from_pretrained": Call(builds="a processor"),
    "transformers.AutoImageProcessor.from_pretrained": Call(builds="a processor"),
    "transformers.AutoModel.from_pretrained": Call(builds="a model"),
    "transformers.AutoProcessor.from_pretrained": Call(builds="a processor"),
    "transformers.AutoTokenizer.from_pretrained": Call(builds="a tokenizer"),
    "transformers.BertModel.from_pretrained": Call(builds="a model"),
    "transformers.BertTokenizer.from_pretrained": Call(builds="a tokenizer"),
    "transformers.BertTokenizerFast.from_pretrained": Call(builds="a tokenizer"),
    "transformers.CLIPModel.from_pretrained": Call(builds="a model"),
    "transformers.CLIPProcessor.from_pretrained": Call(builds="a processor"),
    "transformers.CLIPTokenizer.from_pretrained": Call(builds="a tokenizer"),
    "transformers.GPT2Tokenizer.from_pretrained": Call(builds="a tokenizer"),
    "transformers.GPT2TokenizerFast.from_pretrained": Call(builds="a tokenizer"),
    "transformers.RobertaTokenizer.from_pretrained": Call(builds="a tokenizer"),
    "transformers.T5Tokenizer.from_pretrained": Call(builds="a tokenizer"),
    "turbojpeg.TurboJPEG": Call(builds="a decoder"),
    "whisper.load_model": Call(builds="a model"),
}
