import type { Locale } from '../locale.ts';

/** What moderators say. */
export const germanModeration: Locale = {
  names: {
    allow: 'erlauben',
    answers: 'antworten',
    appoint: 'ernennen',
    assistant: 'assistent',
    audit: 'änderungen',
    block: 'sperren',
    command: 'befehl',
    confirm: 'bestätigen',
    days: 'tage',
    dismiss: 'absetzen',
    exempt: 'ausnahme',
    footer: 'fußzeile',
    forbid: 'verbieten',
    forget: 'vergessen',
    help: 'hilfe',
    inherit: 'erben',
    most: 'höchstens',
    of: 'wovon',
    per: 'je',
    report: 'bericht',
    scope: 'geltung',
    text: 'text',
    unblock: 'entsperren',
    usage: 'verbrauch',
    who: 'wer',
  },
  words: {
    song: 'Lied',
    ask: 'Antwort',
    image: 'Bild',
    video: 'Video',
    channel: 'Kanal',
    server: 'Server',
    person: 'Person',
    hour: 'Stunde',
    day: 'Tag',
    requests: 'Anfragen',
    units: 'Einheiten',
    'A person or a role': 'Eine Person oder eine Rolle',
    'A person or a role that was named; nobody may if left out':
      'Eine genannte Person oder Rolle; ohne Angabe darf niemand',
    'A person or a role; everyone if left out': 'Eine Person oder Rolle; ohne Angabe alle',
    'Ask the gateway again which models there are': 'Das Gateway neu fragen, welche Modelle es gibt',
    'Choose a model for this channel or server': 'Ein Modell für diesen Kanal oder Server wählen',
    'Erase what is kept about you: requests, results, files, voices, usage':
      'Löschen, was über dich aufbewahrt wird: Anfragen, Ergebnisse, Dateien, Stimmen, Verbrauch',
    'Help, what is set here, and what is kept about you':
      'Hilfe, was hier gilt, und was über dich aufbewahrt wird',
    'How many days back; 30 if left out': 'Wie viele Tage zurück; ohne Angabe 30',
    'How much may be used here, and who may use what': 'Wie viel hier genutzt werden darf, und wer was darf',
    'How much; 0 is none, left out is no limit': 'Wie viel; 0 ist nichts, ohne Angabe gilt keine Grenze',
    'How questions are answered: with the bot’s own commands, with a footer':
      'Wie Fragen beantwortet werden: mit den Befehlen des Bots, mit Fußzeile',
    'In any stretch of this length; a day if left out': 'In jeder Spanne dieser Länge; ohne Angabe ein Tag',
    'Keep somebody from using the bot in this server': 'Jemanden auf diesem Server vom Bot ausschließen',
    'Let somebody moderate the bot, beside the server’s own moderators':
      'Jemanden den Bot moderieren lassen, neben den Moderatoren des Servers',
    'Let somebody use the bot again': 'Jemanden den Bot wieder nutzen lassen',
    'Limit how much may be used': 'Begrenzen, wie viel genutzt werden darf',
    'Model and tokens stand under an answer': 'Modell und Tokens stehen unter einer Antwort',
    'Of what; everything together if left out': 'Wovon; ohne Angabe alles zusammen',
    'On: moderators are exempt': 'An: Moderatoren sind ausgenommen',
    'Only for this person, or for each person with this role':
      'Nur für diese Person, oder für jede Person mit dieser Rolle',
    'Questions may use the bot’s own commands': 'Fragen dürfen die Befehle des Bots nutzen',
    'Say who may use a command: those who are named, or everyone':
      'Sagen, wer einen Befehl nutzen darf: Genannte, oder alle',
    'Switch a command off, or take somebody from those who may use it':
      'Einen Befehl abschalten, oder jemandem nehmen',
    'Take a choice back, so that the server or the default decides':
      'Eine Wahl zurücknehmen, sodass der Server oder der Standard entscheidet',
    'Take a limit back': 'Eine Grenze zurücknehmen',
    'Take back that somebody moderates the bot': 'Zurücknehmen, dass jemand den Bot moderiert',
    'Take back what was said about who may use a command':
      'Zurücknehmen, was über die Nutzer eines Befehls gesagt war',
    'Take it back': 'Zurücknehmen',
    'The command, or all': 'Der Befehl, oder all für alle',
    'The model’s id or name': 'Die Kennung oder der Name des Modells',
    'What every question here is prefaced with': 'Was hier jeder Frage vorangestellt wird',
    'What every question is prefaced with; empty opens a form':
      'Was jeder Frage vorangestellt wird; leer öffnet ein Formular',
    'What is counted; requests if left out': 'Was gezählt wird; ohne Angabe Anfragen',
    'What is in force here, and why': 'Was hier gilt, und warum',
    'What is limited here, and how much of it is used':
      'Was hier begrenzt ist, und wie viel davon verbraucht ist',
    'What moderators changed here, for moderators': 'Was Moderatoren hier geändert haben, für Moderatoren',
    'What the bot can do, and what is set here': 'Was der Bot kann, und was hier gilt',
    'What the model is for': 'Wofür das Modell ist',
    'What you used here': 'Was du hier verbraucht hast',
    'Where it holds; this channel if left out': 'Wo es gilt; ohne Angabe in diesem Kanal',
    'Whether the limits set here hold for moderators': 'Ob die hier gesetzten Grenzen für Moderatoren gelten',
    'Which models are used here, and how questions are answered':
      'Welche Modelle hier genutzt und wie Fragen beantwortet werden',
    'Who used how much in this server': 'Wer wie viel auf diesem Server genutzt hat',
    'Whom it counts: each person, or all in this channel or server together':
      'Wen es zählt: jede Person, oder alle in diesem Kanal oder Server zusammen',
    'Yes, erase it; it cannot be brought back': 'Ja, löschen; es lässt sich nicht zurückholen',
  },
};
