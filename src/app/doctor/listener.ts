/** Checks that `npm start` can listen at HOST, PORT and ADMIN_PORT. */
import { type Finding, fatal, good } from '../../core/finding.ts';
import { ListenError, type ListenOptions, listenAt, urlAt } from '../../http/server.ts';
import type { Config } from '../config/read.ts';
import { isBotAt, type ReachOptions } from './public-url.ts';

export async function inspectListener(
  { listener, admin }: Pick<Config, 'listener' | 'admin'>,
  { fetch, log }: Pick<ReachOptions, 'fetch' | 'log'>,
): Promise<Finding[]> {
  const url = urlAt(listener);
  const error = await tryListen({ ...listener, log });
  // A running bot uses both ports.
  if (error?.code === 'port-taken' && (await isBotAt(url, fetch)))
    return [{ ...good('PORT', `the bot is running at ${url}`), preventsStart: true }];
  const metricsError = admin && (await tryListen({ ...admin, log, setting: 'ADMIN_PORT' }));
  return [
    error
      ? fatal('PORT', error.message)
      : good('PORT', listener.port === 0 ? 'any free port' : `${listener.port} is free`),
    ...(metricsError ? [fatal('ADMIN_PORT', metricsError.message)] : []),
  ];
}

/** Returns the error with which listening fails. */
async function tryListen(options: ListenOptions): Promise<ListenError | undefined> {
  try {
    await (await listenAt(options)).close();
    return undefined;
  } catch (error) {
    if (error instanceof ListenError) return error;
    throw error;
  }
}
