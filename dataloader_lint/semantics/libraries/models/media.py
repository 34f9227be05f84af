"""Images, video, sound, and the annotations of images."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "PIL.Image.open": Call(gives="image", opens="an open image", pickles=True, shared="descriptors"),
    "av.open": Call(opens="an open media file", shared="position"),
    "cv2.VideoCapture": Call(opens="a `cv2.VideoCapture`", shared="position"),
    "cv2.imdecode": Call(may_be_none=True),
    "cv2.imread": Call(gives="image", may_be_none=True),
    "decord.VideoReader": Call(opens="an open video", shared="pool"),
    "gdal.Open": Call(opens="an open raster"),
    "lvis.LVIS": Call(gives="dict"),
    "openslide.OpenSlide": Call(opens="an open slide"),
    "openslide.open_slide": Call(opens="an open slide"),
    "osgeo.gdal.Open": Call(opens="an open raster"),
    "osgeo.gdal.OpenEx": Call(opens="an open raster"),
    "pycocotools.coco.COCO": Call(gives="dict"),
    "rasterio.open": Call(opens="an open raster", shared="position"),
    "soundfile.SoundFile": Call(opens="an open sound file", shared="position"),
    "tifffile.TiffFile": Call(opens="an open TIFF file", shared="position"),
    "torchcodec.decoders.AudioDecoder": Call(opens="an audio decoder", shared="position", arrives_broken=True),
    "torchcodec.decoders.VideoDecoder": Call(opens="a video decoder", shared="position", arrives_broken=True),
    "xtcocotools.coco.COCO": Call(gives="dict"),
    "av.open.decode": Call(streams="source"),
    "soundfile.SoundFile.blocks": Call(streams="source"),
    "soundfile.blocks": Call(streams="source"),
}
