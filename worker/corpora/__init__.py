"""Corpora beside the default one: documents that are uploaded, and folders that may be searched.

Each is a folder below ``$ESOTERIC_HOME/documents``, which the web server and the workers share:

    NAME/corpus.json      its title, and a mark that changes with its files
    NAME/files/           what was uploaded
    NAME/digests.json     the digests of these files
    NAME/index/           an embedded index of these files
    NAME/indexing.json    how far the indexing of which mark is, and what it found in each file
    NAME/lock             held for a moment by what changes any of this
    .mark                 names the folder, so that processes find out whether they share it
    .indexing             held by the worker that indexes one of them
    .gone-*, .incoming-*  remains of what was removed, or not uploaded to the end

Files are changed by renaming what is whole. A worker indexes what has another mark than its last
indexing; so nothing is lost when a process ends at any moment, and no message is needed.
"""
