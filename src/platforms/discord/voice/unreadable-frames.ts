import type { VoiceConnectionReadyState } from '@discordjs/voice';
import type { Log } from '../../../core/telemetry/log.ts';

/** The library reads frames of the voice gateway where an error of its own would end the process. */
export function dropUnreadableFrames(
  state: VoiceConnectionReadyState['networking']['state'],
  guarded: WeakSet<object>,
  log: Log,
): void {
  if (!('ws' in state) || guarded.has(state.ws)) return;
  const { ws } = state;
  guarded.add(ws);
  const emit = ws.emit.bind(ws);
  ws.emit = (...event: Parameters<typeof emit>): boolean => {
    try {
      return emit(...event);
    } catch (error) {
      log.error(
        { err: error, event: event[0] },
        'A frame of the voice gateway could not be read, and was dropped',
      );
      return true;
    }
  };
}
