import type { Log } from '../../src/core/telemetry/log.ts';

/** A log that stores its lines for the test. */
export class RecordingLog implements Log {
  readonly lines: { level: keyof Log; fields: object; sentence: string }[] = [];

  debug = (fields: object, sentence: string) => void this.lines.push({ level: 'debug', fields, sentence });
  info = (fields: object, sentence: string) => void this.lines.push({ level: 'info', fields, sentence });
  warn = (fields: object, sentence: string) => void this.lines.push({ level: 'warn', fields, sentence });
  error = (fields: object, sentence: string) => void this.lines.push({ level: 'error', fields, sentence });
}
