"""Public data sets by the words that name them in code, with their numbers of samples.

A row is: name, words, words of class and file names only, samples, bytes of a record (0: by the kind of the elements),
and where the number comes from. Samples are those of the largest usual training split. Words are in lower case; those
of several parts are found in each spelling: `imagenet22k` in `ImageNet22K`, `imagenet_22k` and `IMAGENET22KDATASET`.
What is short, or a word of English, names a data set only where it is part of the name of a class or a file.
Bytes of a record were measured with tracemalloc on Python 3.11, the slot in the list included.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_ABOUT = "about, from memory"
_OWN = "its own page or paper"

_ROWS: tuple[tuple[str, str, str, int, int, str], ...] = (
    ("ImageNet-22k", "imagenet22k imagenet21k imagenet21kp in22k in21k", "", 14_197_122, 0, _OWN),
    ("ImageNet-1k", "imagenet imagenet1k ilsvrc ilsvrc2012", "in1k", 1_281_167, 0, _OWN),
    ("COCO", "mscoco coco2014 coco2017", "coco", 118_287, 800, "images of 2017; 591,753 captions, 860,001 boxes"),
    ("COCO-Text", "cocotext", "", 43_686, 0, "images of training"),
    ("LVIS", "", "lvis", 100_170, 0, _OWN),
    ("Objects365", "objects365", "o365", 1_742_289, 0, "version 2"),
    ("Open Images", "openimages", "oid", 1_743_042, 0, "images with boxes; 9,011,219 in all"),
    ("Pascal VOC", "pascalvoc voc2007 voc2012", "voc", 16_551, 0, "2007 and 2012"),
    ("Cityscapes", "cityscapes", "", 2_975, 0, _OWN),
    ("ADE20K", "ade20k", "ade", 20_210, 0, _OWN),
    ("CIFAR", "cifar cifar10 cifar100", "", 50_000, 0, _OWN),
    ("MNIST", "mnist fashionmnist", "", 60_000, 0, _OWN),
    ("SVHN", "svhn", "", 73_257, 0, "604,388 more are extra"),
    ("CelebA", "celeba", "", 202_599, 0, _OWN),
    ("FFHQ", "ffhq", "", 70_000, 0, _OWN),
    ("LSUN", "lsun", "", 3_033_042, 0, "bedroom; cat 1,657,266, church 126,227"),
    ("Places365", "places365", "places", 1_803_460, 0, "standard; challenge 8,026,628"),
    ("iNaturalist", "inaturalist inat2021 inat21", "inat", 2_686_843, 0, "2021; 437,513 in 2018"),
    ("LAION", "laion laion400m laion2b laion5b laion400", "", 400_000_000, 0, "LAION-400M; others are larger"),
    ("CC3M", "cc3m conceptualcaption conceptualcaptions conceptualcaptions3m", "", 3_318_333, 0, _OWN),
    ("CC12M", "cc12m conceptual12m", "", 12_423_374, 0, _OWN),
    ("SBU captions", "sbucaption sbucaptions", "sbu", 860_000, 0, _ABOUT),
    ("YFCC", "yfcc15m yfcc100m yfcc", "", 15_000_000, 0, _ABOUT),
    ("Visual Genome", "visualgenome", "vg", 108_077, 0, "images; 1.7 million questions"),
    ("VQA v2", "vqav2 vqa2 cocovqa", "vqa", 443_757, 1_100, "658,111 with val"),
    ("GQA", "", "gqa", 943_000, 0, "balanced"),
    ("Flickr30k captions", "flickr30k", "", 145_000, 0, _OWN),
    ("NLVR2", "nlvr2 nlvr", "", 86_373, 0, _OWN),
    ("RefCOCO", "refcoco", "", 120_624, 0, _OWN),
    ("TextCaps", "textcaps textcap", "", 109_765, 0, _OWN),
    ("OCR-VQA", "ocrvqa", "", 801_579, 0, _ABOUT),
    ("MS1M", "ms1m ms1mv2 ms1mv3 msceleb1m", "", 5_822_653, 0, "ArcFace"),
    ("WebFace42M", "webface42m", "", 42_474_557, 0, _ABOUT),
    ("VGGFace2", "vggface2", "", 3_141_890, 0, _OWN),
    ("Market-1501", "market1501", "", 12_936, 0, _OWN),
    ("MJSynth", "mjsynth synth90k", "", 14_000_000, 0, "with SynthText words, from memory"),
    ("SynthText", "synthtext", "", 858_750, 0, _OWN),
    ("Kinetics", "kinetics kinetics400 kinetics600 kinetics700", "", 240_000, 0, "400 classes; 545,000 of 700"),
    ("Something-Something", "somethingsomething ssv2 somethingv2", "", 168_913, 0, "version 2"),
    ("UCF101", "ucf101", "", 9_537, 0, _OWN),
    ("MSR-VTT captions", "msrvtt", "", 130_260, 0, _OWN),
    ("WebVid-10M", "webvid10m", "webvid", 10_727_607, 0, _OWN),
    ("HowTo100M", "howto100m", "", 1_220_000, 0, _OWN),
    ("MPII", "", "mpii", 22_246, 1_700, _OWN),
    ("ScanNet", "scannet", "", 2_500_000, 0, "frames, from memory"),
    ("ModelNet40", "modelnet modelnet40 modelnet10", "", 9_843, 0, _OWN),
    ("ShapeNet", "shapenet", "", 51_300, 0, _OWN),
    ("S3DIS", "s3dis", "", 272, 0, "rooms"),
    ("KITTI", "kitti", "", 7_481, 4_500, "3D objects; 39,810 of raw, Zhou split"),
    ("nuScenes", "nuscenes nuscene", "", 28_130, 19_000, "key frames of 10 sweeps each"),
    ("Waymo Open", "waymo", "", 158_081, 6_000, _OWN),
    ("Argoverse 2", "argoverse argoverse2", "argo argo2 av2", 110_071, 6_000, "sensor"),
    ("Lyft L5", "", "lyft", 18_900, 10_000, _ABOUT),
    ("ONCE", "", "once", 4_961, 4_500, "labelled"),
    ("PandaSet", "pandaset", "", 8_240, 0, _OWN),
    ("YouTube-VOS", "youtubevos ytvos", "", 3_471, 0, _OWN),
    ("NYU Depth", "nyudepth nyuv2 nyudepthv2", "nyu", 50_000, 0, _ABOUT),
    ("FlyingThings3D", "flyingchairs flyingthings flyingthings3d", "", 40_000, 0, _ABOUT),
    ("DF2K", "div2k df2k", "", 300_000, 0, "sub-images, from memory"),
    ("MegaDepth", "megadepth", "", 130_000, 0, _ABOUT),
    ("MIMIC-CXR", "chexpert mimiccxr", "", 377_110, 0, _OWN),
    ("fastMRI", "fastmri", "", 105_000, 0, "slices, from memory"),
    ("Objaverse", "objaverse cap3d", "", 660_000, 0, _ABOUT),
    ("LoveDA", "loveda", "", 2_522, 0, _OWN),
    ("ShareGPT", "sharegpt", "", 90_000, 5_000, "from memory"),
    ("Alpaca", "alpaca", "", 52_002, 0, _OWN),
    ("LLaVA instruct 150k", "llava150k llavainstruct llavainstruct150k", "", 157_712, 3_500, _OWN),
    ("LLaVA mix665k", "llava llavamix llava665k", "", 665_298, 3_500, "558,128 of the pretraining set"),
    ("FLAN", "", "flan", 1_386_050, 626, "small mixture"),
    ("SQuAD v2", "squad squadv2", "", 130_319, 0, _OWN),
    ("MNLI", "mnli snli multinli", "", 550_152, 0, "SNLI; 392,702 of MNLI"),
    ("MS MARCO", "msmarco", "marco", 8_841_823, 0, "passages"),
    ("WikiText-103", "wikitext wikitext103", "", 1_801_350, 0, "lines"),
    ("OpenWebText", "openwebtext", "", 8_013_769, 0, _OWN),
    ("C4", "", "c4", 364_868_892, 0, _OWN),
    ("WMT14", "wmt14", "", 4_500_000, 0, "en-de; en-fr 40.8 million"),
    ("IMDB reviews", "", "imdb", 25_000, 0, _OWN),
    ("Yelp or Amazon reviews", "yelpreview amazonreview yelpreviews amazonreviews", "", 3_600_000, 0, _ABOUT),
    ("AG News", "agnews", "", 120_000, 0, _OWN),
    ("TinyStories", "tinystories", "", 4_967_871, 0, _OWN),
    ("UltraChat 200k", "ultrachat", "", 207_865, 5_000, _OWN),
    ("LibriSpeech", "librispeech", "", 281_241, 0, "960 hours"),
    ("LJSpeech", "ljspeech", "", 13_100, 0, _OWN),
    ("VCTK", "vctk", "", 44_242, 0, _ABOUT),
    ("Common Voice", "commonvoice", "", 1_000_000, 0, "English, from memory"),
    ("AudioSet", "audioset", "", 2_041_789, 0, "unbalanced"),
    ("VoxCeleb2", "voxceleb voxceleb2", "", 1_092_009, 0, _OWN),
    ("Speech Commands", "speechcommands", "", 105_829, 0, "version 2"),
    ("WSJ0-2mix", "wsj0mix wsj02mix", "wham whamr", 20_000, 0, _OWN),
    ("GigaSpeech", "gigaspeech", "", 8_300_000, 0, "XL, from memory"),
    ("AISHELL-1", "aishell aishell1", "", 120_098, 0, _OWN),
    ("WavCaps", "wavcaps", "", 403_050, 0, _OWN),
    ("AudioCaps", "audiocaps", "", 49_838, 0, _OWN),
    ("MUSDB18", "musdb musdb18", "", 100, 0, _OWN),
    ("PDBbind", "pdbbind", "", 19_443, 0, _OWN),
    ("PDB", "", "pdb", 600_000, 0, "chains, from memory"),
    ("CrossDocked2020", "crossdocked crossdocked2020", "", 100_000, 0, "filtered"),
    ("QM9", "qm9", "", 130_831, 0, _OWN),
    ("PCQM4Mv2", "pcqm4m pcqm4mv2", "", 3_746_619, 0, _OWN),
    ("ogbg-molpcba", "molpcba ogbgmolpcba", "", 437_929, 0, _OWN),
    ("OC20", "oc20 oc22", "", 460_328, 0, "IS2RE; 133,934,018 of S2EF"),
    ("UniRef50", "uniref uniref50", "", 45_000_000, 0, _ABOUT),
    ("ZINC 250k", "zinc250k", "zinc", 249_455, 0, _OWN),
    ("MovieLens-20M", "movielens movielens20m", "", 20_000_263, 0, _OWN),
    ("Criteo", "criteo", "", 45_840_617, 0, "display ads"),
)

_ATOMS = re.compile(r"[A-Z]{2,}(?=[A-Z][a-z]|[^A-Za-z]|$)|[A-Z]?[a-z]+|[A-Z]+|\d+")
_ENDING = re.compile(r"(?<=.)(?:datasets?|dset)$")
_MOST_ATOMS = 5  # of the longest words above, in the spelling with the most parts


@dataclass(frozen=True, slots=True)
class KnownDataset:
    """A public data set: `samples` of its training split, `record` the bytes of a record where that is rich."""

    name: str
    samples: int
    record: int


def known_datasets(names: Iterable[str], folders: Iterable[str]) -> list[KnownDataset]:
    """The data sets that names of classes and files, or folders, name.

    What is part of the name of another one does not count: `COCO` in `RefCOCO`.
    """
    found: dict[KnownDataset, None] = {}
    for texts, rows in ((names, _rows_by_word(is_own=True)), (folders, _rows_by_word(is_own=False))):
        for text in texts:
            spans = [(first, last, rows[word]) for first, last, word in _runs(text) if word in rows]
            for first, last, row in spans:
                if not any(one <= first and last <= two and (one, two) != (first, last) for one, two, _ in spans):
                    found.setdefault(row)
    return list(found)


def words_of(name: str) -> Iterator[str]:
    """The words of a name in lower case, and each run of them written as one: `open`, `images`, `openimages`."""
    return (word for _, _, word in _runs(name))


def _runs(name: str) -> Iterator[tuple[int, int, str]]:
    atoms = [_ENDING.sub("", each.lower()) for each in _ATOMS.findall(name)]
    for first in range(len(atoms)):
        for last in range(first + 1, min(first + _MOST_ATOMS, len(atoms)) + 1):
            yield first, last, "".join(atoms[first:last])


@functools.cache
def _rows_by_word(is_own: bool) -> dict[str, KnownDataset]:
    """The rows by their words; with those that count in names of classes and files only if `is_own`."""
    return {
        word: KnownDataset(name, samples, record)
        for name, anywhere, own, samples, record, _ in _ROWS
        for word in (*anywhere.split(), *(own.split() if is_own else ()))
    }
