"""The judge that ships as an encoder: an ONNX model, with words beside it."""
