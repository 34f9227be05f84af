"""What several rules about threads ask: OpenCV in worker code."""
