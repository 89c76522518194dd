/**
 * True for an error that nothing else can catch: @discordjs/voice sends its first keep-alive in the next tick, even if it has closed the
 * socket by then. The connection is already being replaced or left. https://github.com/remorses/kimaki/issues/7
 */
export const isSentOnClosedSocket = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SOCKET_DGRAM_NOT_RUNNING';
