/** Whether a voice connection encrypts what it sends end to end: https://daveprotocol.com/ */
import {
  type DAVESession,
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

export function daveOf(connection: VoiceConnection): DAVESession | undefined {
  return readyStateOf(connection)?.dave;
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
