/** Connects as soon as the voice state and the voice server are known, in either order. */
import type { DiscordGatewayAdapterLibraryMethods } from '@discordjs/voice';

type Methods = Pick<DiscordGatewayAdapterLibraryMethods, 'onVoiceServerUpdate' | 'onVoiceStateUpdate'>;
type ServerUpdate = Parameters<Methods['onVoiceServerUpdate']>[0];
type StateUpdate = Parameters<Methods['onVoiceStateUpdate']>[0];

interface VoiceUpdates extends Methods {
  /** The bot asks Discord for a channel. A new voice server follows. */
  request(): void;
}

/** The library connects when it receives a voice server, with the voice state it has then. Discord promises no order. */
export function createVoiceUpdates(methods: Methods, isConnecting: () => boolean): VoiceUpdates {
  let server: ServerUpdate | undefined;
  let state: StateUpdate | undefined;
  return {
    request() {
      server = undefined;
    },
    onVoiceServerUpdate(data) {
      server = data;
      methods.onVoiceServerUpdate(data);
    },
    onVoiceStateUpdate(data) {
      const isKnown = data.session_id === state?.session_id && data.channel_id === state.channel_id;
      state = data;
      methods.onVoiceStateUpdate(data);
      if (server && !isKnown && data.channel_id !== null && isConnecting())
        methods.onVoiceServerUpdate(server);
    },
  };
}
