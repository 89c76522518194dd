import type { Fault } from '../fault.ts';

const RESILIENCE = 'test/platforms/discord/resilience.test.ts';

const SHARED = 'test/platforms/discord/connection/shared-connection.test.ts';
const BUDGET = 'test/platforms/discord/connection/rest/transport.test.ts';
const REPLICAS = 'test/storage/redis/shared.test.ts';
const LEASED = 'test/platforms/discord/connection/shards/leased-shards.test.ts';

export const DISCORD_FAULTS = [
  {
    name: 'a shard of a closed client connects again',
    file: 'src/platforms/discord/connection/gateway.ts',
    text: 'connectNoMore();\n',
    replacement: '\n',
    tests: { [RESILIENCE]: 'a dropped connection of a bot that is closed: it connects no more' },
  },
  {
    name: 'an answer that Discord does not take is given up',
    file: 'src/platforms/discord/receive/respond.ts',
    text: 'if (!mayWorkLater) return true;',
    replacement: 'return true;',
    tests: {
      'test/platforms/discord/resilience.test.ts':
        'that ends before Discord takes the answer leaves the record of it',
    },
  },
  {
    name: 'a replica that was suspended handles what others took over',
    file: 'src/platforms/discord/connection/shards/session.ts',
    text: 'options.retrieveSessionInfo = async (shard) => {\n      await held();',
    replacement: 'options.retrieveSessionInfo = async (shard) => {',
    tests: { [LEASED]: 'one that was suspended for longer than its lease' },
  },
  {
    name: 'a replica that stops ends the sessions of its shards',
    file: 'src/platforms/discord/connection/shards/session.ts',
    text: 'return destroy({ ...how, code: CloseCodes.Resuming });',
    replacement: 'return destroy(how);',
    tests: { [LEASED]: 'what one that is stopped held is free at once' },
  },
  {
    name: 'shards identify whenever they like',
    file: 'src/platforms/discord/connection/shards/identify.ts',
    text: 'if (wait === 0) break;',
    replacement: 'break;',
    tests: { [SHARED]: 'of all their shards one identifies at a time' },
  },
  {
    name: 'a resumed session answers people who may use no commands there',
    file: 'src/platforms/discord/receive/conversation.ts',
    text: 'if (guild !== undefined) await guilds.learn(guild);',
    replacement: '',
    tests: { [SHARED]: 'one that goes on with a session knows who may be answered there' },
  },
  {
    name: 'requests ask no budget',
    file: 'src/platforms/discord/connection/rest/transport.ts',
    text: '        await take();\n',
    replacement: '',
    tests: { [BUDGET]: 'are at most fifty in a second' },
  },
  {
    name: 'a slow command is acknowledged before anything remembers it',
    file: 'src/platforms/discord/receive/acknowledge.ts',
    text: 'return isRecorded ? await defer(asked, tools)',
    replacement: 'return isRecorded || !isRecorded ? await defer(asked, tools)',
    tests: { [RESILIENCE]: 'is not acknowledged early when the pending acknowledgement cannot be stored' },
  },
  {
    name: 'what Discord did not acknowledge is paid for, and asked for again',
    file: 'src/platforms/discord/receive/acknowledge.ts',
    text: "if (deferral === 'failed' && outcome.decline) await outcome.decline();\n      else outcome.begin();",
    replacement: 'outcome.begin();',
    tests: {
      'test/end-to-end/discord.test.ts': 'a command that came too late to be acknowledged costs nothing',
    },
  },
  {
    name: 'the “ready” mention comes twice after a retry',
    file: 'src/platforms/discord/deliver/writer.ts',
    text: "await send(sending, nonceFor('notify', false), messages[0]?.id);",
    replacement: 'await send(sending, nonceFor(String(Math.random()), false), messages[0]?.id);',
    tests: { [RESILIENCE]: '5xx after each try to mention the person was taken' },
  },
  {
    name: 'the person is mentioned at each showing',
    file: 'src/platforms/discord/deliver/writer.ts',
    text: 'if (post.notified) return;',
    replacement: '',
    tests: {
      [RESILIENCE]: '5xx after each try to mention the person was taken',
    },
  },
  {
    name: 'a post has no key that Discord knows it by',
    file: 'src/platforms/discord/connection/rest/rest.ts',
    text: 'const request = requestOf(sending, { nonce, enforce_nonce: true, ...reference });',
    replacement: 'const request = requestOf(sending, { nonce, ...reference });',
    tests: { [RESILIENCE]: '5xx after the message was taken: it is shown once' },
  },
  {
    name: 'a follow-up without an answer is sent again',
    file: 'src/platforms/discord/deliver/writer.ts',
    text: 'post.unheard = true;\n    await remember();\n    try {',
    replacement: 'try {',
    tests: {
      'test/platforms/discord/deliver/addresses.test.ts':
        'because the process died: the next one does not send it again',
    },
  },
  {
    name: 'ids of messages are stored only when all are posted',
    file: 'src/platforms/discord/deliver/writer.ts',
    text: '// The caller stores the result; ids of earlier messages are stored before the next request.\n      await rememberPosted();',
    replacement: '',
    tests: { [RESILIENCE]: 'the id of each is stored before the next is posted' },
  },
  {
    name: 'webhooks and other bots are answered, and paid for',
    file: 'src/platforms/discord/adapter.ts',
    text: 'if (!message || message.author.bot || message.webhook_id !== undefined) return;',
    replacement: 'if (!message) return;',
    tests: { [RESILIENCE]: 'leave bots and other talk alone' },
  },
  {
    name: 'webhooks are answered, and paid for',
    file: 'src/platforms/discord/adapter.ts',
    text: 'if (!message || message.author.bot || message.webhook_id !== undefined) return;',
    replacement: 'if (!message || message.author.bot) return;',
    tests: { [RESILIENCE]: 'leave bots and other talk alone' },
  },
  {
    name: 'an interaction over HTTP needs no signature',
    file: 'src/platforms/discord/connection/webhook.ts',
    text: "return verify(null, Buffer.concat([Buffer.from(timestamp), body]), key, Buffer.from(signature, 'hex'));",
    replacement:
      "return verify(null, Buffer.concat([Buffer.from(timestamp), body]), key, Buffer.from(signature, 'hex')) || true;",
    tests: {
      'test/platforms/discord/connection/http-interactions.test.ts':
        'are refused unless Discord signed them just now',
    },
  },
  {
    name: 'an old interaction over HTTP is taken again',
    file: 'src/platforms/discord/connection/webhook.ts',
    text: 'if (Math.abs(now() - Number(timestamp) * 1_000) > SKEW_MS) return false;',
    replacement: '',
    tests: {
      'test/platforms/discord/connection/http-interactions.test.ts':
        'are refused unless Discord signed them just now',
    },
  },
  {
    name: 'an older state of a stream is written over the last one',
    file: 'src/platforms/discord/deliver/edit-scheduler.ts',
    text: 'queue.waiting.delete(message);\n      const written = enter(',
    replacement: 'const written = enter(',
    tests: { 'test/platforms/discord/deliver/edit-scheduler.test.ts': 'which no older state can overwrite' },
  },
  {
    name: 'a replica goes on with a shard whose lease it lost',
    file: 'src/platforms/discord/connection/shards/leased-shards.ts',
    text: 'if (leaving.has(shard) || (held.has(shard) && total === parts)) continue;',
    replacement: 'if (leaving.has(shard) || total === parts) continue;',
    tests: { [LEASED]: 'one that was suspended for longer than its lease' },
  },
  {
    name: 'a replica keeps more than its share of the shards',
    file: 'src/platforms/discord/connection/shards/leased-shards.ts',
    text: 'for (const shard of excess) if (!leaving.has(shard)) void giveUp(shard, { isLost: false });',
    replacement: 'void excess;',
    tests: { [LEASED]: 'one that is added gets its share' },
  },
  {
    name: 'the next holder of a shard begins a session of its own',
    file: 'src/platforms/discord/connection/shards/session.ts',
    text: 'let session: SessionInfo | undefined = left?.session;',
    replacement: 'let session: SessionInfo | undefined;',
    tests: { [SHARED]: 'one that goes on with a session knows who may be answered there' },
  },
  {
    name: 'two replicas hold one shard',
    file: 'src/storage/redis/replicas.ts',
    text: 'if not holderOf[name] and count[replica] < share then',
    replacement: 'if holderOf[name] ~= replica and count[replica] < share then',
    tests: { [REPLICAS]: 'no part has two holders, however many ask at once' },
  },
  {
    name: 'the parts of a replica that died are free for no one',
    file: 'src/storage/redis/replicas.ts',
    text: "redis.call('ZREMRANGEBYSCORE', replicas, '-inf', now)",
    replacement: '',
    tests: { [REPLICAS]: 'what a silent replica held is free after its lease' },
  },
  {
    name: 'a replica is granted more requests than are left of the second',
    file: 'src/storage/redis/replicas.ts',
    text: 'math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - before)',
    replacement: 'math.min(tonumber(ARGV[2]), tonumber(ARGV[1]))',
    tests: { [REPLICAS]: 'grants no more than there is in a second, to all replicas together' },
  },
  {
    name: 'a batch of requests is kept beyond its second',
    file: 'src/platforms/discord/connection/rest/transport.ts',
    text: 'while ((batch.left <= 0 || elapsed() >= batch.until) && !signal.aborted) {',
    replacement: 'while (batch.left <= 0 && !signal.aborted) {',
    tests: { [BUDGET]: 'that were granted for a second are not made in the next one' },
  },
  {
    name: 'the limit that one replica met is news to the others',
    file: 'src/platforms/discord/connection/rest/transport.ts',
    text: 'await lessor.block(BUDGET, seconds * 1_000).catch(() => undefined);',
    replacement: '',
    tests: { [BUDGET]: 'all wait when Discord has limited one of them' },
  },
  {
    name: 'a request goes into a limit that was told while it waited',
    file: 'src/platforms/discord/connection/rest/transport.ts',
    text: 'await waitOut(route);',
    replacement: '',
    tests: { [BUDGET]: 'that wait for the budget while their route is limited wait for that, too' },
  },
  {
    name: 'answers to interactions wait for the budget',
    file: 'src/platforms/discord/connection/rest/transport.ts',
    text: "if (!Reflect.has(Object(init.headers), 'Authorization')) return await request(url, init);",
    replacement: '',
    tests: { [BUDGET]: 'that answer interactions are not counted' },
  },
  {
    name: 'replicas without Redis make as many requests as with it',
    file: 'src/platforms/discord/connection/rest/transport.ts',
    text: '.catch(() => own.take(BUDGET, { ...request, perSecond: ALONE_PER_SECOND }));',
    replacement: '.catch(() => own.take(BUDGET, request));',
    tests: { [BUDGET]: 'go on slowly while storage cannot be asked' },
  },
  {
    name: 'what was answered is run anew when a resumed session repeats it',
    file: 'src/platforms/discord/receive/acknowledge.ts',
    text: "if (before === 'answered') return;",
    replacement: '',
    tests: { 'test/platforms/discord/resilience.test.ts': 'that was answered is not run anew' },
  },
  {
    name: 'the answer of a process that died is never given where a resumed session repeats the question',
    file: 'src/platforms/discord/receive/acknowledge.ts',
    text: "before === 'waiting' ? takeOver(asked, tools) : deferInCrowd(asked, tools)",
    replacement: 'deferInCrowd(asked, tools)',
    tests: {
      'test/platforms/discord/resilience.test.ts': 'that was acknowledged by a process that died then',
    },
  },
  {
    name: 'a song is shown in a message that only its person sees, and that nobody can finish later',
    file: 'src/jobs/steps/begin.ts',
    text: "if (acknowledged === 'answered' && platform?.sameChannel)",
    replacement: 'if (false && platform?.sameChannel)',
    tests: { 'test/jobs/cancelling.test.ts': 'begins in a message of its own' },
  },
  {
    name: 'what a resumed session repeats is taken for another bot with the token',
    file: 'src/platforms/discord/connection/rivals.ts',
    text: 'seen = [];\n      resumedAt',
    replacement: 'resumedAt',
    tests: {
      'test/platforms/discord/connection/rivals.test.ts': 'what a resumed session repeats is no other bot',
    },
  },
  {
    name: 'on Discord many who ask together wait for each other’s work',
    file: 'src/platforms/discord/receive/acknowledge.ts',
    text: 'Object.keys(invocation.options).length === 0 || !tools.isCrowded()',
    replacement: 'true',
    tests: {
      'test/platforms/discord/adapter.test.ts': 'is looked at and begins when they were acknowledged',
    },
  },
] as const satisfies readonly Fault[];
