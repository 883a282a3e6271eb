"""What the box of the first page will do with what stands in it: a claim, a list, or a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from flask import Blueprint, Response, current_app, request

from app.contexts import BoxAnswer, SeenClaim, render_box
from app.filters import job_badge
from app.openapi import describe
from app.recipes import recipe_to_run
from app.services import services
from retrieval.claim import CHECKED_ANYWAY, LONGEST, read_claim
from retrieval.errors import EsotericError, InvalidClaim
from retrieval.text.notices import sentences_in
from retrieval.text.plain_questions import plain_statement
from worker import clock
from worker.lists import MOST_CLAIMS

blueprint = Blueprint("box", __name__)
