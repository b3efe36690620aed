"""A process of its own that decodes a recording with OpenCV: `decoding.py FILE RATE SECONDS SIDE`.

It writes one JPEG after the other to its output, RATE of them for each second. It stands alone, imports nothing of
ours, and limits itself, since the file it reads was made by strangers.
"""

import resource
import sys
from typing import Any

MAX_PIXELS = 40_000_000


def main() -> int:
    path, rate, seconds, side = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    try:
        import cv2
    except ImportError:
        return 3
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    opencv: Any = cv2
    opencv.setNumThreads(1)
    video = opencv.VideoCapture(path, opencv.CAP_FFMPEG)
    width, height = video.get(opencv.CAP_PROP_FRAME_WIDTH), video.get(opencv.CAP_PROP_FRAME_HEIGHT)
    if not video.isOpened() or not 0 < width * height <= MAX_PIXELS:
        return 4
    due = 0.0
    while due < seconds and video.grab():
        if video.get(opencv.CAP_PROP_POS_MSEC) / 1000 + 1e-6 < due:
            continue
        found, frame = video.retrieve()
        if not found:
            break
        scale = min(side / max(frame.shape[:2]), 1.0)
        if scale < 1:
            frame = opencv.resize(frame, None, fx=scale, fy=scale, interpolation=opencv.INTER_AREA)
        found, jpeg = opencv.imencode(".jpg", frame, [opencv.IMWRITE_JPEG_QUALITY, 85])
        sys.stdout.buffer.write(jpeg.tobytes())
        due += 1 / rate
    return 0


if __name__ == "__main__":
    sys.exit(main())
