import type { Locale } from '../locale.ts';

/** What moderators say. */
export const spanishModeration: Locale = {
  names: {
    allow: 'permitir',
    answers: 'respuestas',
    appoint: 'nombrar',
    assistant: 'asistente',
    audit: 'cambios',
    block: 'bloquear',
    command: 'comando',
    confirm: 'confirmar',
    days: 'días',
    dismiss: 'destituir',
    exempt: 'exento',
    footer: 'pie',
    forbid: 'prohibir',
    forget: 'olvidar',
    help: 'ayuda',
    inherit: 'heredar',
    most: 'máximo',
    of: 'unidad',
    per: 'por',
    report: 'informe',
    scope: 'alcance',
    text: 'texto',
    unblock: 'desbloquear',
    usage: 'uso',
    who: 'quién',
  },
  words: {
    song: 'canción',
    ask: 'respuesta',
    image: 'imagen',
    video: 'vídeo',
    channel: 'canal',
    server: 'servidor',
    person: 'persona',
    hour: 'hora',
    day: 'día',
    requests: 'peticiones',
    units: 'unidades',
    'A person or a role': 'Una persona o un rol',
    'A person or a role that was named; nobody may if left out':
      'Una persona o un rol ya nombrado; sin indicar, nadie',
    'A person or a role; everyone if left out': 'Una persona o un rol; sin indicar, todos',
    'Ask the gateway again which models there are': 'Volver a preguntar a la pasarela qué modelos hay',
    'Choose a model for this channel or server': 'Elegir un modelo para este canal o servidor',
    'Erase what is kept about you: requests, results, files, voices, usage':
      'Borrar lo que se guarda de ti: peticiones, resultados, archivos, voces, uso',
    'Help, what is set here, and what is kept about you': 'Ayuda, lo que rige aquí y lo que se guarda de ti',
    'How many days back; 30 if left out': 'Cuántos días atrás; 30 sin indicar',
    'How much may be used here, and who may use what': 'Cuánto se puede usar aquí y quién puede usar qué',
    'How much; 0 is none, left out is no limit': 'Cuánto; 0 es nada, sin indicar no hay límite',
    'How questions are answered: with the bot’s own commands, with a footer':
      'Cómo se responde: con los comandos del bot, con pie',
    'In any stretch of this length; a day if left out':
      'En cualquier lapso de esta duración; un día sin indicar',
    'Keep somebody from using the bot in this server': 'Impedir que alguien use el bot en este servidor',
    'Let somebody moderate the bot, beside the server’s own moderators':
      'Dejar que alguien modere el bot, junto a los moderadores del servidor',
    'Let somebody use the bot again': 'Dejar que alguien vuelva a usar el bot',
    'Limit how much may be used': 'Limitar cuánto se puede usar',
    'Model and tokens stand under an answer': 'El modelo y los tokens figuran bajo una respuesta',
    'Of what; everything together if left out': 'De qué; todo junto sin indicar',
    'On: moderators are exempt': 'Activado: los moderadores quedan exentos',
    'Only for this person, or for each person with this role':
      'Solo para esta persona, o para cada persona con este rol',
    'Questions may use the bot’s own commands': 'Las preguntas pueden usar los comandos del bot',
    'Say who may use a command: those who are named, or everyone':
      'Decir quién puede usar un comando: los nombrados, o todos',
    'Switch a command off, or take somebody from those who may use it':
      'Apagar un comando, o quitárselo a alguien',
    'Take a choice back, so that the server or the default decides':
      'Retirar una elección: decide el servidor o el valor por defecto',
    'Take a limit back': 'Retirar un límite',
    'Take back that somebody moderates the bot': 'Retirar a alguien la moderación del bot',
    'Take back what was said about who may use a command':
      'Retirar lo dicho sobre quién puede usar un comando',
    'Take it back': 'Retirarlo',
    'The command, or all': 'El comando, o all para todos',
    'The model’s id or name': 'El identificador o el nombre del modelo',
    'What every question here is prefaced with': 'Lo que precede aquí a cada pregunta',
    'What every question is prefaced with; empty opens a form':
      'Lo que precede a cada pregunta; vacío abre un formulario',
    'What is counted; requests if left out': 'Lo que se cuenta; peticiones sin indicar',
    'What is in force here, and why': 'Lo que rige aquí, y por qué',
    'What is limited here, and how much of it is used': 'Lo que está limitado aquí, y cuánto se ha usado',
    'What moderators changed here, for moderators': 'Lo que los moderadores cambiaron aquí, para moderadores',
    'What the bot can do, and what is set here': 'Lo que el bot sabe hacer, y lo que rige aquí',
    'What the model is for': 'Para qué es el modelo',
    'What you used here': 'Lo que usaste aquí',
    'Where it holds; this channel if left out': 'Dónde rige; este canal sin indicar',
    'Whether the limits set here hold for moderators': 'Si los límites fijados aquí rigen para moderadores',
    'Which models are used here, and how questions are answered':
      'Qué modelos se usan aquí, y cómo se responde',
    'Who used how much in this server': 'Quién usó cuánto en este servidor',
    'Whom it counts: each person, or all in this channel or server together':
      'A quién cuenta: cada persona, o todo el canal o servidor',
    'Yes, erase it; it cannot be brought back': 'Sí, borrar; no se puede recuperar',
  },
};
