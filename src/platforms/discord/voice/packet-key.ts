import { createSecretKey } from 'node:crypto';
import type { VoiceConnectionReadyState } from '@discordjs/voice';

/** Of a key's bytes Node would make the key anew for each packet: three quarters of what its encryption takes. */
export function makePacketKey(state: VoiceConnectionReadyState['networking']['state']): void {
  const data = 'connectionData' in state ? state.connectionData : undefined;
  if (!data || !('encryptionMode' in data && 'secretKey' in data)) return;
  if (data.encryptionMode !== 'aead_aes256_gcm_rtpsize' || !(data.secretKey instanceof Uint8Array)) return;
  // Sound: the library hands it on to Node, which takes both.
  Object.assign(data, { secretKey: createSecretKey(data.secretKey) });
}
