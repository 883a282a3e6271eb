"""``esoteric users``: who may log in, as what, and in which groups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import click

from cli.errors import reports_errors, say
from cli.options import json_option
from settings import Settings
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.feedback_store import FeedbackStore
from worker.job_store import JobStore
from worker.jobs import GROUP
from worker.list_store import ListStore
from worker.user_store import Role, UserStore, owner_of


@click.group("users", epilog="Example: esoteric users add anna --role checker")
def command() -> None:
    """Say who may log in, in which groups, and give new tokens (ESOTERIC_ACCESS=tokens or proxy).

    A reader sees results, a checker also submits claims, an operator may do everything.
    """


@command.command("add", epilog="Example: esoteric users add anna --role checker")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(get_args(Role)),
    default="checker",
    show_default=True,
    help="As what.",
)
@json_option
@reports_errors
def add(name: str, role: Role, as_json: bool) -> None:
    """Add a user and print the token with which NAME logs in; it is shown only now."""
    with _users() as users:
        token = users.add(name, role)
    said = f"The token of {name}, who is now {_as(role)}; it is not shown again:"
    _print_token(said, token, as_json, name=name, role=role)


@command.command("list", epilog="Example: esoteric users list")
@json_option
@reports_errors
def list_(as_json: bool) -> None:
    """List the users."""
    with _users() as users:
        found = users.all()
    if as_json:
        listed = [
            {
                "name": one.name,
                "role": one.role,
                "created_at": one.created_at.isoformat(),
                "used_at": one.used_at and one.used_at.isoformat(),
            }
            for one in found
        ]
        click.echo(json.dumps({"users": listed}))
        return
    for one in found:
        used = f"last here {one.used_at:%Y-%m-%d}" if one.used_at else "never here"
        line = f"{one.name:20}  {one.role:8}  since {one.created_at:%Y-%m-%d}  {used}"
        say(line, on_output=True)
    if not found:
        say("There is no user. Add one: esoteric users add NAME")


@command.command("rotate", epilog="Example: esoteric users rotate anna")
@click.argument("name")
@json_option
@reports_errors
def rotate(name: str, as_json: bool) -> None:
    """End all tokens and sessions of a user at once, and print a new token; the claims stay.

    A user ends single ones on the page “Your account”.
    """
    with _users() as users:
        token = users.rotate(name)
    _print_token(f"The new token of {name}; it is not shown again:", token, as_json, name=name)


@command.command("groups", epilog="Example: esoteric users groups")
@json_option
@reports_errors
def groups(as_json: bool) -> None:
    """List the groups, with which users can share what is theirs, and their members."""
    with _users() as users:
        found = users.groups()
    if as_json:
        listed = [{"name": name, "users": members} for name, members in found.items()]
        click.echo(json.dumps({"groups": listed}))
        return
    for name, members in found.items():
        say(f"{name:20}  {', '.join(members)}", on_output=True)
    if not found:
        say("There is no group. Make one: esoteric users join GROUP NAME...")


@command.command("join", epilog="Example: esoteric users join newsroom anna bert")
@click.argument("group")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@reports_errors
def join(group: str, names: tuple[str, ...]) -> None:
    """Put users into a group, which begins with the first of them.

    They see what is shared with it. A group whose last user has left is gone: what was shared with
    it becomes private again if a new one gets its name.
    """
    with _database() as database:
        users = UserStore(database)
        if group not in users.groups():
            _take_back_corpora(group)
        users.join(group, names)
    click.echo(f"{', '.join(names)}: in the group {group}.")


@command.command("leave", epilog="Example: esoteric users leave newsroom bert")
@click.argument("group")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@reports_errors
def leave(group: str, names: tuple[str, ...]) -> None:
    """Take users out of a group; they no longer see what others share with it."""
    with _database() as database:
        UserStore(database).leave(group, names)
        database.settle()  # also where no service runs
    click.echo(f"{', '.join(names)}: not in the group {group} any more.")


@command.command("remove", epilog="Example: esoteric users remove anna")
@click.argument("name")
@click.option("--with-claims", is_flag=True, help="Delete claims, lists and feedback too.")
@reports_errors
def remove(name: str, with_claims: bool) -> None:
    """Remove a user, who is logged out at once.

    Without --with-claims what the user submitted stays: shared as it is, and else operators' alone.
    """
    with _database() as database:
        UserStore(database).remove(name)
        if with_claims:
            owner = owner_of(name)
            ListStore(database).delete_all_of(owner)  # first, as lists hand claims to the queue
            JobStore(database).delete_all_of(owner)
            FeedbackStore(database).delete_all_of(owner)
        database.settle()  # also where no service runs
    what = " Claims, lists and feedback were deleted." if with_claims else ""
    click.echo(f"{name} cannot log in any more.{what}")


def _take_back_corpora(group: str) -> None:
    """Make what was shared with an earlier group of this name private, as ``UserStore.join`` does.

    Corpora are in no database.
    """
    settings = Settings.from_environment()
    store = CorpusStore(settings.documents, settings.folders)
    for name in store.names():
        if store.corpus(name).shared == f"{GROUP}{group}":
            store.share(name, "owner")


def _print_token(said: str, token: str, as_json: bool, **named: str) -> None:
    if as_json:
        click.echo(json.dumps({**named, "token": token}))
    else:
        say(said)
        click.echo(token)


def _as(role: Role) -> str:
    return f"an {role}" if role == "operator" else f"a {role}"


@contextmanager
def _database() -> Iterator[Database]:
    database = Database(Settings.from_environment().database_url)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _users() -> Iterator[UserStore]:
    with _database() as database:
        yield UserStore(database)
