import type { Fault } from '../fault.ts';

const OAUTH = 'test/platforms/slack/connection/oauth.test.ts';
const SHOW = 'test/platforms/slack/deliver/show.test.ts';
const INTERACTIONS = 'test/platforms/slack/receive/interactions.test.ts';

const AGENT = 'test/platforms/slack/receive/agent.test.ts';
const ORGANISATION = 'test/platforms/slack/connection/organisation.test.ts';
const TALK = 'test/platforms/slack/receive/talk.test.ts';

export const SLACK_FAULTS = [
  {
    name: 'a command is acknowledged although nothing remembers it',
    file: 'src/platforms/slack/receive/answering.ts',
    text: 'inTime === undefined && (await bot.recordPendingAcknowledgement?.(asking)) !== false;',
    replacement: 'inTime === undefined;',
    tests: { [INTERACTIONS]: 'is not acknowledged while no one would remember it after a crash' },
  },
  {
    name: 'a command is acknowledged before its job is stored',
    file: 'src/platforms/slack/receive/answering.ts',
    text: 'const running = isUrgent ? undefined : runAs(user, asking, tools);',
    replacement:
      'await isReceived(acknowledge.silently(), tools);\n  const running = isUrgent ? undefined : runAs(user, asking, tools);',
    tests: { [INTERACTIONS]: 'is stored before it is acknowledged' },
  },
  {
    name: 'many who ask together wait for each other’s work',
    file: 'src/platforms/slack/receive/answering.ts',
    text: 'const isCrowded = backlog.isCrowded() && !isForm;',
    replacement: 'const isCrowded = false;',
    tests: {
      'test/platforms/slack/receive/slow-slack.test.ts':
        'those who come last are recorded and acknowledged before their work begins',
    },
  },
  {
    name: 'a post without an answer is sent again',
    file: 'src/platforms/slack/connection/client.ts',
    text: '(repeatable && isUncertain(error));',
    replacement: '(repeatable || isUncertain(error));',
    tests: { [SHOW]: 'leaves one message although the answer was lost' },
  },
  {
    name: 'what an interrupted run posted is not searched for',
    file: 'src/platforms/slack/deliver/post.ts',
    text: 'isUncertain: mayHavePosted || isUnanswered,',
    replacement: 'isUncertain: isUnanswered,',
    tests: { [SHOW]: 'leaves one message although the process died before it could remember it' },
  },
  {
    name: 'files of another post are taken for those of this one',
    file: 'src/platforms/slack/deliver/files.ts',
    text: '(other) => other.name === file.name && (address.thread === undefined || other.size === file.bytes),',
    replacement: '(other) => other.name === file.name || address.thread !== undefined,',
    tests: { [SHOW]: 'takes no file of another post in its thread for its own' },
  },
  {
    name: 'the “ready” mention comes twice after a retry',
    file: 'src/platforms/slack/deliver/show.ts',
    text: '// Also without an answer: a lost mention is better than two.\n  state.called = true;',
    replacement: '',
    tests: { [SHOW]: 'calls once by a reply when the message was there already' },
  },
  {
    name: 'a mention whose process died comes again',
    file: 'src/platforms/slack/deliver/find-posted.ts',
    text: "if (part === 'mention') state.called = true;",
    replacement: '',
    tests: { [SHOW]: 'uploads, shares and mentions once although the process died' },
  },
  {
    name: 'Retry-After of one edit is ignored by the next',
    file: 'src/platforms/slack/connection/rates.ts',
    text: 'pausedUntil = Math.max(pausedUntil, elapsed() + ms);',
    replacement: 'pausedUntil = Math.max(pausedUntil, ms - ms);',
    tests: { 'test/platforms/slack/connection/rates.test.ts': 'wait together for a Retry-After' },
  },
  {
    name: 'bots that carry a user and a bot_id are answered',
    file: 'src/platforms/slack/receive/conversation.ts',
    text: 'return user !== undefined && bot_id === undefined && said;',
    replacement: 'return user !== undefined && (bot_id === undefined || user !== undefined) && said;',
    tests: { 'test/platforms/slack/receive/threads.test.ts': 'by another bot is not answered' },
  },
  {
    name: 'an event that Slack sends again is answered twice',
    file: 'src/platforms/slack/receive/questions.ts',
    text: 'if (first !== undefined) {',
    replacement: 'if (first !== undefined && taken.size === 0) {',
    tests: { [INTERACTIONS]: 'answers an event once that Slack sends again' },
  },
  {
    name: 'a mention is acknowledged although nothing remembers it',
    file: 'src/platforms/slack/receive/questions.ts',
    text: 'if ((await bot.recordPendingAcknowledgement?.(asked)) === false) {',
    replacement: 'if (asked.id.length === 0) {',
    tests: {
      'test/platforms/slack/receive/questions.test.ts':
        'a mention whose thread cannot be read in time is recorded, and acknowledged then',
    },
  },
  {
    name: 'an event that could not be handled is never handled again',
    file: 'src/platforms/slack/receive/questions.ts',
    text: 'taken.delete(event);\n        throw error;',
    replacement: 'throw error;',
    tests: { [OAUTH]: 'lets Slack send an event again that could not be handled' },
  },
  {
    name: 'an uninstall is undone by a token rotation',
    file: 'src/platforms/slack/connection/oauth/installations.ts',
    text: "return now !== undefined && now !== 'sealed' && now.token === token ? sealed(next) : value;",
    replacement:
      "return now === undefined || (now !== 'sealed' && now.token === token) ? sealed(next) : value;",
    tests: { [OAUTH]: 'stay gone when the app is removed while they are replaced' },
  },
  {
    name: 'a late removal takes a workspace that was installed anew',
    file: 'src/platforms/slack/connection/oauth/installations.ts',
    text: "if (workspace !== undefined && workspace !== 'sealed' && workspace.installedAt >= before) return false;",
    replacement: '',
    tests: { [OAUTH]: 'that is told late takes nothing from a workspace that installed it anew' },
  },
  {
    name: 'tokens lie open in storage',
    file: 'src/platforms/slack/connection/oauth/installations.ts',
    text: 'settings.set(keyOf(workspace.team), sealed(workspace));',
    replacement: 'settings.set(keyOf(workspace.team), { ...sealed(workspace), ...workspace });',
    tests: { [OAUTH]: 'keeps no token readable in storage or in the log' },
  },
  {
    name: 'an admin of yesterday is still a moderator',
    file: 'src/platforms/slack/connection/people.ts',
    text: 'if (found !== undefined && now() - found.at < REMEMBER_MS) return found.person;',
    replacement: 'if (found !== undefined) return found.person;',
    tests: {
      'test/platforms/slack/receive/slow-slack.test.ts': 'an admin of yesterday is no moderator today',
    },
  },
  {
    name: 'a person of another workspace is a moderator by the flags of their own',
    file: 'src/platforms/slack/connection/people.ts',
    text: 'const moderator = isFromHere && (user.is_admin === true || user.is_owner === true);',
    replacement: 'const moderator = user.is_admin === true || user.is_owner === true;',
    tests: {
      'test/platforms/slack/receive/slow-slack.test.ts':
        'a person of another workspace is no moderator by the flags of their own',
    },
  },
  {
    name: 'a request needs no signature of Slack',
    file: 'src/platforms/slack/connection/webhook.ts',
    text: 'if (!isFromSlack(request)) return refuse();',
    replacement: '',
    tests: { 'test/platforms/slack/connection/connection.test.ts': 'takes nothing that Slack did not sign' },
  },
  {
    name: 'a workspace without agents is asked again for each message',
    file: 'src/platforms/slack/connection/agent-sessions.ts',
    text: 'absentUntil = now() + ABSENT_MS;',
    replacement: 'absentUntil = now();',
    tests: { [AGENT]: 'sees what it saw before, and is asked once' },
  },
  {
    name: 'a status is never taken back',
    file: 'src/platforms/slack/adapter.ts',
    text: 'if (progress === undefined) await agents.rest(agentThread);',
    replacement: 'if (progress === undefined) return;',
    tests: { [AGENT]: 'tells how far the work is' },
  },
  {
    name: 'a workspace forgets by which organisation it works',
    file: 'src/platforms/slack/connection/workspaces.ts',
    text: 'await source.joinOrganisation(team, inEvent);',
    replacement: 'await Promise.resolve();',
    tests: { [ORGANISATION]: 'delivers what was asked for after a restart' },
  },
  {
    name: 'what names people is a question',
    file: 'src/platforms/slack/receive/messages.ts',
    text: "const kind = isAboutPeople(talk) ? 'none' : kindOfTalk(",
    replacement: 'const kind = kindOfTalk(',
    tests: { [TALK]: 'what names people, a group or everybody is theirs' },
  },
  {
    name: 'a stream to a person of another workspace is taken for one to the own',
    file: 'src/platforms/slack/deliver/native-stream.ts',
    text: 'const team = tools.persons.teamOf(address.person) ?? address.guild;',
    replacement: 'const team = address.guild;',
    tests: {
      'test/platforms/slack/deliver/stream.test.ts':
        'is streamed to a person of another workspace as one of theirs',
    },
  },
] as const satisfies readonly Fault[];
