"""Words that say of what kind a name or a noun is."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MEN = _words(
    """
    adam alan albert alex alexander alfred andreas andrew antonio anton arthur barack ben benjamin
    bernard bill bob boris brian carl carlos charles chris christian christopher daniel dave david
    dennis diego dmitri donald douglas edgar edmund eduard edward emmanuel eric ernest ernst
    ferdinand francis francisco frank franz fred frederick friedrich fritz gary geoffrey george
    giovanni giuseppe graham gustav hans harold harry heinrich helmut henri henrik henry herbert
    herman hugo ian igor isaac ivan jack jacob jakob james jan jason jean jeff jeremy jim joe johan
    johann john johannes jonas jonathan jorge jose josef joseph juan julius karl keith ken kenneth
    kevin klaus konrad kurt lars lee leo leonardo lewis louis luca ludwig luigi luis lukas magnus
    manuel marco mario mark markus martin matthew max michael miguel mike mikhail mohammed nelson
    neil nicholas nick nicolas nigel nikolai olaf ole oliver oscar oskar otto pablo patrick paul
    pedro per peter philip pierre rafael ralph ray richard rob robert roberto roger roland ronald
    rudolf sam samuel scott sebastian sergei simon stefan stephen steve steven stuart sven thomas
    tim tom tomas tony vincent viktor victor vladimir walter werner wilhelm william winston wolfgang
    """
)
WOMEN = _words(
    """
    ada agatha agnes alice alicia amanda amelia amy ana andrea angela anita ann anna anne annette
    astrid audrey barbara beatrice bertha betty birgit bridget camilla carla carmen carol caroline
    catherine charlotte christina christine clara claire claudia cleopatra diana dorothy edith
    eleanor elena elisabeth elizabeth ella ellen elsa emilia emily emma erika esther eva eve fatima
    florence frances frida gabriela georgia gertrude gina grace greta gro hanna hannah harriet
    hedwig heidi helen helena helga hilary hillary ida ines ingrid irene iris isabel isabella jane
    janet jenny jessica joan johanna judith julia julie karen kate katharina katherine kathleen
    kristin laura lena lily linda lisa louise lucia lucy lydia madeleine margaret margrethe maria
    marie marina marta martha mary maya melissa michelle monica nadia nancy natalia nicole nina nora
    olga olivia patricia paula petra pauline rachel rebecca rita rosa rose ruth sally sandra sara
    sarah silvia simone sofia sonia sophia sophie stella susan susanne sylvia tamara teresa theresa
    ursula vera victoria virginia wanda wilma
    """
)
MALE = _words(
    "mr sir lord king prince father son brother husband man boy uncle grandfather businessman"
    " chairman spokesman statesman actor gentleman pope monk duke emperor widower nephew"
)
FEMALE = _words(
    "mrs ms lady queen princess mother daughter sister wife woman girl aunt grandmother"
    " businesswoman chairwoman spokeswoman actress nun duchess empress widow niece"
)
PEOPLE = (
    MALE
    | FEMALE
    | _words(
        """
        accountant activist administrator ambassador analyst architect artist astronaut athlete
        author banker baker billionaire biologist bishop boss captain cardinal champion chancellor
        chemist chief child citizen coach colonel comedian commander commissioner composer conductor
        councillor critic dancer deputy designer dictator diplomat director doctor driver economist
        editor engineer entrepreneur expert explorer farmer firefighter fisherman founder friend
        colleague cousin general guest immigrant miner nephew refugee roommate tourist voter
        goalkeeper governor guard guitarist head historian host inspector inventor journalist judge
        lawyer leader lieutenant manager mayor mechanic minister mp murderer musician neighbour
        neighbor novelist nurse officer official owner painter partner passenger patient
        philosopher photographer physicist pianist pilot player playwright poet politician
        premier president presenter priest producer professor prosecutor psychologist pupil
        researcher resident reporter sailor scientist secretary senator sculptor singer
        skier soldier speaker striker student successor surgeon swimmer teacher thief trainer
        treasurer victim violinist winner witness worker writer dr prof
        """
    )
)
# Words that any company may be repeated by; "the union" is not one of them.
COMPANIES = _words(
    "airline brewery broadcaster carmaker company corporation firm group manufacturer organisation"
    " organization publisher retailer start-up startup"
)
# Whoever has such an office is called by it: "the mayor" stands for no name in the text.
OFFICES = _words(
    """
    ambassador bishop captain chancellor commander commissioner emperor empress general governor
    judge king manager mayor minister monarch pope premier president prince princess prosecutor
    queen secretary senator
    """
)
SETTLEMENTS = _words("borough capital city municipality town village")
STATES = _words("country kingdom nation republic state")
WORKS = _words(
    "album ballet book comedy drama essay film game movie musical novel opera painting play poem"
    " programme series show single song story symphony"
)
# What places of nature are called: before the name ("Lake Victoria"), after it ("the Red Sea").
LANDS_BEFORE = _words("cape lake loch lough mount")
LANDS_BEHIND = _words(
    "bay desert falls glacier islands mountains ocean peninsula reef river sea strait valley"
)
LANDS = LANDS_BEFORE | LANDS_BEHIND | _words("coast forest gulf island isle mountain volcano")
# Nouns that only some things have: a reef has no captain, and a town no parliament.
ON_BOARD = _words("captain crew passenger skipper")
OF_STATES = _words("army capital constitution currency king monarch monarchy navy parliament queen")
# A city has no capital, no other city and no president: these are of its country.
OF_NO_SETTLEMENT = (SETTLEMENTS - {"borough"}) | _words("chancellor president")
OF_COMPANIES = _words("ceo customer dividend profit shareholder subsidiary turnover")
# The parser takes many cities for people.
CITIES = _words(
    """
    aachen aleppo alexandria algiers amsterdam ankara antwerp athens atlanta auckland baghdad baku
    baltimore bangkok barcelona basel beijing beirut belfast belgrade bergen berlin bern bilbao
    birmingham bogota bologna bombay bonn bordeaux boston bremen brighton bristol brisbane bruges
    brussels bucharest budapest cairo calais calcutta cambridge canberra caracas cardiff chicago
    cleveland cologne copenhagen cork damascus dallas delhi denver detroit dhaka dortmund dresden
    dublin dundee durham edinburgh essen exeter florence frankfurt gdansk geneva genoa ghent glasgow
    granada graz hamburg hanoi hanover havana heidelberg helsinki hiroshima houston istanbul jakarta
    jerusalem johannesburg kabul karachi kiev kolkata kyiv kyoto lagos lahore leeds leipzig lille
    lima lisbon liverpool ljubljana london lyon lyons madrid malaga manchester manila marrakesh
    marseille mecca melbourne memphis miami milan minsk monaco montreal moscow mosul mumbai munich
    nairobi nantes naples nottingham nuremberg odessa osaka oslo ottawa oxford palermo paris
    philadelphia pittsburgh porto prague quebec rabat riga rome rotterdam salamanca salzburg
    sarajevo seattle seoul seville shanghai sheffield sofia stockholm strasbourg stuttgart sydney
    tallinn tbilisi tehran tokyo toronto toulouse tripoli tunis turin uppsala utrecht valencia
    vancouver venice verona vienna vilnius warsaw york zagreb zurich
    """
)
COUNTRIES = _words(
    """
    afghanistan albania algeria angola argentina australia austria bangladesh belarus belgium
    bolivia brazil britain bulgaria cambodia cameroon canada chile china colombia croatia cuba
    cyprus denmark ecuador egypt england estonia ethiopia finland france georgia germany ghana
    greece haiti hungary iceland india indonesia iran iraq ireland israel italy jamaica japan
    jordan kazakhstan kenya kuwait laos latvia lebanon liberia libya lithuania luxembourg malaysia
    mali malta mexico moldova mongolia morocco mozambique myanmar namibia nepal netherlands
    nicaragua niger nigeria norway oman pakistan panama paraguay peru philippines poland portugal
    qatar romania russia rwanda scotland senegal serbia singapore slovakia slovenia somalia spain
    sudan sweden switzerland syria taiwan tanzania thailand tunisia turkey uganda ukraine uruguay
    uzbekistan venezuela vietnam wales yemen zambia zimbabwe
    """
)
