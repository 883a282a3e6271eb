"""``esoteric users``: who may log in, and as what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import click

from cli.errors import reports_errors, say
from cli.options import json_option
from settings import Settings
from worker.database import Database
from worker.feedback_store import FeedbackStore
from worker.job_store import JobStore
from worker.list_store import ListStore
from worker.user_store import Role, UserStore, owner_of


@click.group("users", epilog="Example: esoteric users add anna --role checker")
def command() -> None:
    """Say who may log in, and give new tokens (ESOTERIC_ACCESS=tokens or proxy).

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


@command.command("remove", epilog="Example: esoteric users remove anna")
@click.argument("name")
@click.option("--with-claims", is_flag=True, help="Delete claims, lists and feedback too.")
@reports_errors
def remove(name: str, with_claims: bool) -> None:
    """Remove a user, who is logged out at once.

    Without --with-claims what the user submitted stays, and whoever has its address can read it.
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
