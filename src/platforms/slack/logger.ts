import { type Logger, LogLevel } from '@slack/bolt';
import type { Log } from '../../command.ts';

/**
 * The SDK's log lines in ours. Its debug lines hold whole payloads, tokens among them, and are left out; its errors are
 * warnings here, because whoever made the call decides what a failure means.
 */
export function sdkLogger(log: Log): Logger {
  const sentence = (parts: readonly unknown[]): string => `Slack SDK: ${parts.map(String).join(' ')}`;
  return {
    debug() {},
    info: (...parts) => log.debug({}, sentence(parts)),
    warn: (...parts) => log.warn({}, sentence(parts)),
    error: (...parts) => log.warn({}, sentence(parts)),
    setLevel() {},
    getLevel: () => LogLevel.INFO,
    setName() {},
  };
}
