import type { Fault } from '../fault.ts';

export const APP_FAULTS = [
  {
    name: 'secrets are written to the log',
    file: 'src/app/telemetry/log.ts',
    text: "known.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line)",
    replacement: 'line',
    tests: { 'test/app/telemetry/log.test.ts': 'writes no secret and no URL that gives access by itself' },
  },
  {
    name: 'what people wrote is logged with an error of a library',
    file: 'src/app/telemetry/log.ts',
    text: 'return OWN_ERRORS.some((own) => error instanceof own) ? error.message : undefined;',
    replacement: 'return error.message;',
    tests: { 'test/app/telemetry/log.test.ts': 'the log says what happened and quotes no one' },
  },
  {
    name: 'a signed address is written to the log',
    file: 'src/app/telemetry/log.ts',
    text: '/(\\/callbacks\\/music\\/[\\w-]+\\/)[\\w-]+/g,',
    replacement: '',
    tests: { 'test/app/telemetry/log.test.ts': 'writes no secret and no URL that gives access by itself' },
  },
  {
    name: 'a button starts work of a command that its person may not use',
    file: 'src/core/bot/bot.ts',
    text: 'if (other && other !== command) await enter(other, asking, settings);',
    replacement: '',
    tests: {
      'test/settings/access/access.test.ts':
        'a button of one command that starts another needs access to the other',
    },
  },
  {
    name: 'who may not use /party plays a song by its button',
    file: 'src/core/bot/bot.ts',
    text: 'await enterOther(PARTY);',
    replacement: '',
    tests: {
      'test/commands/moderation.test.ts':
        'who may not use /party cannot use the button that plays a song, either',
    },
  },
  {
    name: 'a removed voice is sung with again',
    file: 'commands/song/keep-voice.ts',
    text: 'if (voice) await sameVoice(voice.personaId, voice.name, context);',
    replacement: '',
    tests: { 'test/commands/song/song.test.ts': 'that was removed is not sung with again' },
  },
  {
    name: 'anybody cancels the work of others',
    file: 'src/core/bot/buttons.ts',
    text: 'if (person.id !== job.person.id && !person.moderator) {',
    replacement: 'if (person.id === undefined) {',
    tests: { 'test/core/bot/bot.test.ts': 'let only the person who asked, or a moderator, cancel' },
  },
  {
    name: 'a pending acknowledgement is told although it was answered',
    file: 'src/core/bot/bot.ts',
    text: 'await pending.remove(asking);',
    replacement: '',
    tests: {
      'test/jobs/pending-acknowledgements.test.ts':
        'is kept until the person is answered, and told of if that never comes',
    },
  },
  {
    name: 'a process goes on, half alive, after an error that nothing caught',
    file: 'src/app/process.ts',
    text: 'exit(1);',
    replacement: '',
    tests: { 'test/app/uncaught.test.ts': 'an error that nothing catches ends the process' },
  },
  {
    name: 'the built-in emulator is the gateway of a deployed bot',
    file: 'src/app/config/checks.ts',
    text: "isProduction || has('GATEWAY_API_KEY'),",
    replacement: "has('GATEWAY_API_KEY'),",
    tests: {
      'test/app/config/config.test.ts': 'are listed all at once, those in values and those between settings',
    },
  },
  {
    name: 'what an error says is sent with the traces',
    file: 'src/app/telemetry/traces/tracer.ts',
    text: "return [code, error.name].find((word) => /^[\\w.-]{1,64}$/.test(word)) ?? '_OTHER';",
    replacement: 'return code + error.message;',
    tests: {
      'test/app/telemetry/traces/tracer.test.ts': 'that fails tells the code of its error, and no word of it',
    },
  },
  {
    name: 'a model that people typed is named in traces',
    file: 'src/app/telemetry/traces/gateway.ts',
    text: 'return isListed ? model : undefined;',
    replacement: 'return model;',
    tests: { 'test/end-to-end/quiet-log.test.ts': 'and in no trace' },
  },
  {
    name: 'a step continues the trace of whatever set its timer',
    file: 'src/jobs/runner/spans.ts',
    text: "const parentOf = ({ traceparent = 'none' }: Job): string => traceparent;",
    replacement: 'const parentOf = (_: Job): string | undefined => undefined;',
    tests: {
      'test/app/telemetry/traces/traces.test.ts': 'one song is one trace, from its command to its delivery',
    },
  },
  {
    name: 'a collector that is away fills the memory',
    file: 'src/app/telemetry/traces/exporter.ts',
    text: 'if (waiting.length > MOST_WAITING) keepNewest(waiting);',
    replacement: '',
    tests: {
      'test/app/telemetry/traces/exporter.test.ts': 'keeps the newest spans, and no more than it may',
    },
  },
  {
    name: 'a collector that hangs holds up what is traced',
    file: 'src/app/telemetry/traces/exporter.ts',
    text: 'await Promise.race([sending, sleep(CLOSING_MS, bound.signal)]);',
    replacement: 'await sending;',
    tests: {
      'test/app/telemetry/traces/exporter.test.ts':
        'a collector that does not answer is given up after two seconds',
    },
  },
  {
    name: 'a collector that is away is asked without a pause',
    file: 'src/app/telemetry/traces/exporter.ts',
    text: 'await pauseFor(sent.again);',
    replacement: '',
    tests: {
      'test/app/telemetry/traces/exporter.test.ts': 'is not hurried past its Retry-After by spans that come',
    },
  },
  {
    name: 'Retry-After of the collector is ignored',
    file: 'src/app/telemetry/traces/exporter.ts',
    text: 'return Math.max(own, asked ?? 0);',
    replacement: 'return asked === undefined ? own : own;',
    tests: {
      'test/app/telemetry/traces/exporter.test.ts': 'is not hurried past its Retry-After by spans that come',
    },
  },
  {
    name: 'what people ask for is written into spans',
    file: 'src/app/telemetry/traces/traced.ts',
    text: "'minstrel.command': command,",
    replacement:
      "'minstrel.command': command && `${command} ${String(Object.values(invocation.options)[0])}`,",
    tests: { 'test/end-to-end/quiet-log.test.ts': 'and in no trace' },
  },
  {
    name: 'a trace begins anew in each process, with a decision of its own',
    file: 'src/app/telemetry/traces/tracer.ts',
    text: 'const isSampled = parent && sampler.followsParent ? parent.isSampled : sampler.root(traceId);',
    replacement: 'const isSampled = sampler.root(traceId);',
    tests: {
      'test/app/telemetry/traces/tracer.test.ts':
        'is decided where the trace begins, and holds in every process',
    },
  },
] as const satisfies readonly Fault[];
