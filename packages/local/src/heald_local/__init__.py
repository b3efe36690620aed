"""Converts a screenshot into a page without a language model.

    detection = detect_elements(data, report)   # see/: boxes, texts, pictures; `report` receives progress and a sketch
    page = arrange(detection)                   # arrange/: a tree of elements with their CSS
    files = write_files(page, stack)            # write/: {path: text or bytes}

Each step maps frozen data to frozen data. None touches the network, or the disk except for fonts and models. Text that
cannot be read for certain stays a picture, and `notes` list that. `local_model` offers the converter as a model.
"""
