import type { Fault } from '../fault.ts';

const DISCORD = 'test/platforms/discord/receive/talk.test.ts';
const SLACK = 'test/platforms/slack/receive/talk.test.ts';
const DELETIONS = 'test/platforms/slack/receive/deletions.test.ts';
const TOOLS = 'test/end-to-end/ask-tools.test.ts';
const FEEDBACK = 'test/settings/feedback.test.ts';

/** Channels in which each message is a question, commands that a model uses, and votes on answers. */
export const TALK_FAULTS = [
  {
    name: 'each message is a question in channels that nobody chose',
    file: 'src/platforms/discord/receive/conversation.ts',
    text: '(await bot.talks?.(addressOfMessage(message, undefined))) === true;',
    replacement: '(await bot.talks?.(addressOfMessage(message, undefined))) !== undefined;',
    tests: {
      [DISCORD]: 'in channels that nobody chose, and in other people’s threads, messages are left alone',
    },
  },
  {
    name: 'what calls everybody is a question',
    file: 'src/platforms/discord/receive/conversation.ts',
    text: 'if (!takesThreads(type) || isToAll || talk',
    replacement: 'if (!takesThreads(type) || (isToAll && type < 0) || talk',
    tests: {
      [DISCORD]: 'replies, names, other bots and their commands, and files without a word are no questions',
    },
  },
  {
    name: 'replies of people to each other are answered',
    file: 'src/platforms/discord/receive/conversation.ts',
    text: 'if (!messageContent || message.type !== 0) return false;',
    replacement: 'if (!messageContent) return false;',
    tests: {
      [DISCORD]: 'replies, names, other bots and their commands, and files without a word are no questions',
    },
  },
  {
    name: 'what names other people is answered',
    file: 'src/platforms/discord/receive/conversation.ts',
    text: 'const isForOthers = mentions.length > 0 || mention_roles.length > 0 || mention_everyone;',
    replacement: 'const isForOthers = mention_roles.length > 0 || mention_everyone;',
    tests: { [DISCORD]: 'each message is a question, answered in a thread of its own that the bot opens' },
  },
  {
    name: 'commands of other bots are answered',
    file: 'src/platforms/shared/talk.ts',
    text: "said.startsWith('/') || FOR_OTHER_BOTS.test(said) ? 'none' : 'question';",
    replacement: "said.startsWith('/') ? 'none' : 'question';",
    tests: {
      [DISCORD]: 'replies, names, other bots and their commands, and files without a word are no questions',
    },
  },
  {
    name: 'a command that was typed as a message is paid for as a question',
    file: 'src/platforms/shared/talk.ts',
    text: "if (commands.some((command) => command.name === name?.toLowerCase())) return 'command';",
    replacement: '',
    tests: { [DISCORD]: 'a command that came as a message is told to be typed as one' },
  },
  {
    name: 'each message of one breath begins a thread',
    file: 'src/platforms/shared/talk.ts',
    text: 'const isNext = before !== undefined && now() - before.at < SERIES_MS;',
    replacement: 'const isNext = before !== undefined && now() - before.at > SERIES_MS;',
    tests: { [DISCORD]: 'what a person writes in one go is one talk in one thread' },
  },
  {
    name: 'a person who is refused is told at each message',
    file: 'src/platforms/discord/receive/conversation.ts',
    text: 'tools.talk.refused(channel, person.id, refusedUntil);',
    replacement: '{}',
    tests: { [DISCORD]: 'a person who is refused reads why once, in one thread' },
  },
  {
    name: 'other bots are answered in a channel of questions on Slack',
    file: 'src/platforms/slack/receive/conversation.ts',
    text: 'return user !== undefined && bot_id === undefined && said;',
    replacement: 'return user !== undefined && said;',
    tests: { [SLACK]: 'bots, joins, topics, edits and files without a word are no questions' },
  },
  {
    name: 'joins and edits are questions on Slack',
    file: 'src/platforms/slack/receive/conversation.ts',
    text: 'return user !== undefined && bot_id === undefined && said;',
    replacement: 'return user !== undefined && bot_id === undefined && (said || !said);',
    tests: { [SLACK]: 'bots, joins, topics, edits and files without a word are no questions' },
  },
  {
    name: 'what people say to each other in a thread is answered',
    file: 'src/platforms/slack/receive/messages.ts',
    text: 'if (isToSomebodyElse(talk) || (isAboutPeople(talk) && (await talks(talk, tools)))) return;',
    replacement: '',
    tests: { [SLACK]: 'a talk goes on in its thread, and what people say to each other there stays theirs' },
  },
  {
    name: 'what names the bot in a thread is answered twice',
    file: 'src/platforms/slack/receive/messages.ts',
    text: 'if (!shared.threads || mentions(talk, identity)) return;',
    replacement: 'if (!shared.threads) return;',
    tests: {
      'test/platforms/slack/receive/threads.test.ts':
        'hears a message with its name once, though Slack tells of it twice',
    },
  },
  {
    name: 'a question that its person took back is answered',
    file: 'src/platforms/slack/receive/messages.ts',
    text: 'await deletions.receive([{ id: idOf({ channel, ts }, team), at: Number(ts) * 1000 }], bot);',
    replacement: 'await deletions.receive([], bot);',
    tests: { [DELETIONS]: 'that is deleted is withdrawn, and no other' },
  },
  {
    name: 'a question is answered on that its person took back when it had replies',
    file: 'src/platforms/slack/receive/messages.ts',
    text: 'z.union([goneSchema, tombstoneSchema])',
    replacement: 'goneSchema',
    tests: { [DELETIONS]: 'a question that was answered in its thread is withdrawn' },
  },
  {
    name: 'a question that was deleted while it was stored is answered',
    file: 'src/platforms/shared/deletions.ts',
    text: 'if (isGone) await withdraw(bot, id);',
    replacement: '',
    tests: {
      [DELETIONS]: 'one that is deleted while it is stored is withdrawn then',
      [DISCORD]: 'is withdrawn once it is stored, if it was deleted a moment earlier',
    },
  },
  {
    name: 'the replies of people in the playground are answered',
    file: 'src/platforms/web/receive/talk.ts',
    text: '(repliedTo !== undefined && !repliedTo.author);',
    replacement: 'repliedTo !== undefined;',
    tests: {
      'test/platforms/web/receive.test.ts': 'what people say to each other is theirs, also as a reply',
    },
  },
  {
    name: 'people ask without end in a channel of questions',
    file: 'src/settings/limits/limits.ts',
    text: 'return channel.talk === true && ![...channel.limits, ...server.limits].some(isSame) ? [TALK_LIMIT] : [];',
    replacement:
      'return channel.talk === undefined && [...channel.limits, ...server.limits].some(isSame) ? [TALK_LIMIT] : [];',
    tests: { 'test/settings/limits/limits.test.ts': 'lets each person ask thirty times an hour' },
  },
  {
    name: 'a model uses commands that it was not offered',
    file: 'src/jobs/ask/tools.ts',
    text: 'const command = commands.includes(name) ? deps.command(name) : undefined;',
    replacement: 'const command = deps.command(name);',
    tests: { [TOOLS]: 'of a function that was not offered' },
  },
  {
    name: 'a model asks for the same work twice',
    file: 'src/jobs/ask/tools.ts',
    text: 'if (done.has(key))',
    replacement: "if (key === '')",
    tests: { [TOOLS]: 'gets the same command with the same words once' },
  },
  {
    name: 'a model asks for as much work as it likes',
    file: 'src/jobs/ask/tools.ts',
    text: 'if (calls > MOST_CALLS)',
    replacement: 'if (calls < 0)',
    tests: { [TOOLS]: 'gets five commands at most from one breath' },
  },
  {
    name: 'a model that goes in circles is paid for without end',
    file: 'src/jobs/ask/tools.ts',
    text: 'if (calls.length === 0 || round === MOST_ROUNDS) {',
    replacement: 'if (calls.length === 0 || round === 4 * MOST_ROUNDS) {',
    tests: { [TOOLS]: 'is asked five times at most, and what it said is shown, marked' },
  },
  {
    name: 'one person is taken for another by a name with a line break',
    file: 'commands/ask/conversation.ts',
    text: '`${oneLine(name)}: ${text}`',
    replacement: '`${name}: ${text}`',
    tests: { 'test/commands/ask/conversation.test.ts': 'cannot be forged by a name' },
  },
  {
    name: 'a vote that comes twice is counted twice',
    file: 'src/app/inside/administration.ts',
    text: 'if (before !== judgement)\n',
    replacement: '',
    tests: { 'test/end-to-end/slack-agent.test.ts': 'once for each person, and may be changed' },
  },
  {
    name: 'votes of other servers are counted',
    file: 'src/settings/feedback.ts',
    text: "const keeper = server === undefined ? ['conversation', where.channel] : ['server', server];",
    replacement: "const keeper = server === undefined ? ['conversation', where.channel] : ['server'];",
    tests: { [FEEDBACK]: 'they are counted by model, in their workspace alone' },
  },
  {
    name: 'votes of a person who is forgotten stay',
    file: 'src/settings/feedback.ts',
    text: 'const { [person]: _, ...others } = votes;',
    replacement: 'const others = votes;',
    tests: { [FEEDBACK]: 'what a person said is forgotten with them' },
  },
] as const satisfies readonly Fault[];
