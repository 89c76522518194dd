/** Whether a voice connection encrypts what it sends end to end: https://daveprotocol.com/ */
import {
  type Networking,
  type NetworkingReadyState,
  NetworkingStatusCode,
  type VoiceConnection,
  VoiceConnectionStatus,
} from '@discordjs/voice';

/** True if sound may be sent: the group has its keys, or Discord never offered encryption, as on stages. */
export function isSafeToSend(connection: VoiceConnection): boolean {
  const state = readyStateOf(connection);
  if (!state) return false;
  const { dave } = state;
  // When everyone else has left, Discord may fall back to version 0. The next listener brings a new group.
  return !dave?.session || (dave.protocolVersion > 0 && dave.session.ready);
}

interface EncryptionEvents {
  /** {@link isSafeToSend} may have changed. */
  readonly changed: () => void;
  /** The library drops the group's messages while it resumes. The group then continues without the bot. */
  readonly lost: () => void;
}

export function watchEncryption(connection: VoiceConnection, { changed, lost }: EncryptionEvents): void {
  const watched = new WeakSet<object>();
  const isNew = (part: object) => !watched.has(part) && watched.add(part);

  function watch(networking: Networking): void {
    const { state } = networking;
    // A new key package starts the group again.
    if (state.code === NetworkingStatusCode.Ready && state.dave && isNew(state.dave))
      state.dave.on('keyPackage', changed);
    if (state.code === NetworkingStatusCode.Resuming && isNew(state.ws))
      state.ws.on('binary', () => {
        if (networking.state.code === NetworkingStatusCode.Resuming) lost();
      });
  }

  connection.on('transitioned', changed);
  connection.on('stateChange', (_, state) => {
    if ('networking' in state) watch(state.networking);
    changed();
  });
}

/** True if nobody else is connected, so there is no group. */
export function isAlone(connection: VoiceConnection): boolean {
  const state = readyStateOf(connection);
  return (
    !state || [...state.connectionData.connectedClients].every((id) => id === state.connectionOptions.userId)
  );
}

function readyStateOf({ state }: VoiceConnection): NetworkingReadyState | undefined {
  if (state.status !== VoiceConnectionStatus.Ready) return undefined;
  const { state: networking } = state.networking;
  return networking.code === NetworkingStatusCode.Ready ? networking : undefined;
}
