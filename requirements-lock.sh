#!/bin/sh
# Writes the requirements files from pyproject.toml, with hashes, by uv. A pin that still fits stays;
# to renew one, delete it from its file first. A package has one version in all files.
set -eu
cd "$(dirname "$0")"

declared() { # prints what the extra or group $2 of the table $1 needs
  python -c 'import sys, tomllib
tables = tomllib.load(open("pyproject.toml", "rb"))
tables |= tables["project"]
print(*tables[sys.argv[1]][sys.argv[2]], sep="\n")' "$1" "$2"
}

lock() { # writes the file $1; the other arguments are the inputs
  file=$1
  shift
  uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-annotate --custom-compile-command "make lock" --output-file "$file" "$@"
}

lock requirements.txt pyproject.toml
set -- --constraints requirements.txt
for extra in corpora zim models postgresql haystack research servers test; do
  # PyTorch has several builds of one version, each with its own hashes: requirements-torch.txt.
  declared optional-dependencies $extra |
    lock requirements-$extra.txt - --no-emit-package torch "$@"
  set -- "$@" --constraints requirements-$extra.txt
done
for group in weights test-weights; do
  declared dependency-groups $group | lock requirements-$group.txt - --no-deps
done
