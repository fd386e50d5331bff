"""The study: the durable life of a continual release, from the first record to the last year."""

from graphveil.study.study import Added, Study
from graphveil.study.study_file import SeriesPromise, StudyFile, study_file

__all__ = ["Added", "SeriesPromise", "Study", "StudyFile", "study_file"]
