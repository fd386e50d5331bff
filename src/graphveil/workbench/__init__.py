"""The workbench: a study in a data scientist's hands, from plain values to frames and charts."""
