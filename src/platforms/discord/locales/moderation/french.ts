import type { Locale } from '../locale.ts';

/** What moderators say. */
export const frenchModeration: Locale = {
  names: {
    allow: 'autoriser',
    answers: 'réponses',
    appoint: 'nommer',
    assistant: 'assistant',
    audit: 'historique',
    block: 'bloquer',
    command: 'commande',
    confirm: 'confirmer',
    days: 'jours',
    dismiss: 'révoquer',
    exempt: 'exempter',
    footer: 'pied',
    forbid: 'interdire',
    forget: 'oublier',
    help: 'aide',
    inherit: 'hériter',
    most: 'maximum',
    of: 'unité',
    per: 'par',
    report: 'rapport',
    scope: 'portée',
    text: 'texte',
    unblock: 'débloquer',
    usage: 'usage',
    who: 'qui',
  },
  words: {
    song: 'chanson',
    ask: 'réponse',
    image: 'image',
    video: 'vidéo',
    channel: 'salon',
    server: 'serveur',
    person: 'personne',
    hour: 'heure',
    day: 'jour',
    requests: 'demandes',
    units: 'unités',
    'A person or a role': 'Une personne ou un rôle',
    'A person or a role that was named; nobody may if left out':
      'Une personne ou un rôle déjà nommé ; personne si rien n’est dit',
    'A person or a role; everyone if left out': 'Une personne ou un rôle ; tout le monde si rien n’est dit',
    'Ask the gateway again which models there are': 'Redemander à la passerelle quels modèles existent',
    'Choose a model for this channel or server': 'Choisir un modèle pour ce salon ou ce serveur',
    'Erase what is kept about you: requests, results, files, voices, usage':
      'Effacer ce qui est gardé sur vous : demandes, résultats, fichiers, voix, usage',
    'Help, what is set here, and what is kept about you':
      'Aide, réglages d’ici, et ce qui est gardé sur vous',
    'How many days back; 30 if left out': 'Combien de jours en arrière ; 30 si rien n’est dit',
    'How much may be used here, and who may use what':
      'Combien on peut utiliser ici, et qui peut utiliser quoi',
    'How much; 0 is none, left out is no limit': 'Combien ; 0 est rien, sans valeur pas de limite',
    'How questions are answered: with the bot’s own commands, with a footer':
      'Comment répondre : avec les commandes du bot, avec un pied',
    'In any stretch of this length; a day if left out':
      'Sur toute durée de cette longueur ; un jour si rien n’est dit',
    'Keep somebody from using the bot in this server': 'Empêcher quelqu’un d’utiliser le bot sur ce serveur',
    'Let somebody moderate the bot, beside the server’s own moderators':
      'Laisser quelqu’un modérer le bot, avec les modérateurs du serveur',
    'Let somebody use the bot again': 'Laisser quelqu’un utiliser de nouveau le bot',
    'Limit how much may be used': 'Limiter combien on peut utiliser',
    'Model and tokens stand under an answer': 'Le modèle et les jetons figurent sous une réponse',
    'Of what; everything together if left out': 'De quoi ; tout ensemble si rien n’est dit',
    'On: moderators are exempt': 'Activé : les modérateurs sont exemptés',
    'Only for this person, or for each person with this role':
      'Pour cette personne seule, ou chaque personne de ce rôle',
    'Questions may use the bot’s own commands': 'Les questions peuvent utiliser les commandes du bot',
    'Say who may use a command: those who are named, or everyone':
      'Dire qui peut utiliser une commande : les nommés, ou tous',
    'Switch a command off, or take somebody from those who may use it':
      'Couper une commande, ou la retirer à quelqu’un',
    'Take a choice back, so that the server or the default decides':
      'Retirer un choix : le serveur ou le réglage par défaut décide',
    'Take a limit back': 'Retirer une limite',
    'Take back that somebody moderates the bot': 'Retirer à quelqu’un la modération du bot',
    'Take back what was said about who may use a command':
      'Retirer ce qui a été dit sur qui peut utiliser une commande',
    'Take it back': 'Le retirer',
    'The command, or all': 'La commande, ou all pour toutes',
    'The model’s id or name': 'L’identifiant ou le nom du modèle',
    'What every question here is prefaced with': 'Ce qui précède ici chaque question',
    'What every question is prefaced with; empty opens a form':
      'Ce qui précède chaque question ; vide ouvre un formulaire',
    'What is counted; requests if left out': 'Ce qui est compté ; les demandes si rien n’est dit',
    'What is in force here, and why': 'Ce qui vaut ici, et pourquoi',
    'What is limited here, and how much of it is used': 'Ce qui est limité ici, et combien en est utilisé',
    'What moderators changed here, for moderators':
      'Ce que les modérateurs ont changé ici, pour les modérateurs',
    'What the bot can do, and what is set here': 'Ce que le bot sait faire, et les réglages d’ici',
    'What the model is for': 'À quoi sert le modèle',
    'What you used here': 'Ce que vous avez utilisé ici',
    'Where it holds; this channel if left out': 'Où cela vaut ; ce salon si rien n’est dit',
    'Whether the limits set here hold for moderators':
      'Si les limites fixées ici valent pour les modérateurs',
    'Which models are used here, and how questions are answered':
      'Quels modèles servent ici, et comment on répond aux questions',
    'Who used how much in this server': 'Qui a utilisé combien sur ce serveur',
    'Whom it counts: each person, or all in this channel or server together':
      'Qui est compté : chaque personne, ou tout le salon ou serveur',
    'Yes, erase it; it cannot be brought back': 'Oui, effacer ; c’est sans retour',
  },
};
