/** The service for each family: the operator's own, else the gateway, else the emulator. */

import { FAMILIES, type Family, type Offer } from '../../core/models/family.ts';
import { DIALECTS } from '../../gateway/models/hints.ts';
import {
  type Accounts,
  GATEWAY_FAMILIES,
  type GatewayFamily,
  gatewayAccounts,
  PUBLIC_SERVICES,
  type ServiceAccount,
} from '../../gateway/routes.ts';
import { SERVICE_SETTINGS, type Values, type Variable } from './schema.ts';

/** The settings of each family's own service. */
export const OWN_SETTINGS = {
  chat: { baseUrl: 'CHAT_BASE_URL', apiKey: 'CHAT_API_KEY' },
  msg: { baseUrl: 'MSG_BASE_URL', apiKey: 'MSG_API_KEY' },
  gen: { baseUrl: 'GEN_BASE_URL', apiKey: 'GEN_API_KEY' },
  media: { baseUrl: 'MEDIA_BASE_URL', apiKey: 'MEDIA_API_KEY' },
  music: { baseUrl: 'MUSIC_BASE_URL', apiKey: 'MUSIC_API_KEY' },
} as const satisfies Record<GatewayFamily, Record<'baseUrl' | 'apiKey', Variable>>;

type OwnVariable = (typeof OWN_SETTINGS)[GatewayFamily]['baseUrl' | 'apiKey'];

/** The families of requests that can be made with any of these. */
const NEEDED = {
  song: ['music'],
  ask: DIALECTS,
  image: ['media', 'gen'],
  video: ['media'],
} as const satisfies Record<Family, readonly GatewayFamily[]>;

/** True if the operator set the family's own service. Only chat has services without a key, such as Ollama on the same machine. */
export function hasOwnService(family: GatewayFamily, has: (variable: OwnVariable) => boolean): boolean {
  const { baseUrl, apiKey } = OWN_SETTINGS[family];
  return has(apiKey) || (family === 'chat' && has(baseUrl));
}

export interface FamilyServices extends Offer {
  /** Families without a service are absent. */
  readonly accounts: Accounts;
  /** The families that the built-in emulator plays: all, if nothing is set. */
  readonly emulated: readonly GatewayFamily[];
}

/** Reads the services from settings that may be incomplete elsewhere. Undefined if those of the services are invalid. */
export function servicesIn(
  environment: Readonly<Record<string, string | undefined>>,
): FamilyServices | undefined {
  const given = Object.entries(environment).filter(([, value]) => value?.trim());
  const values = SERVICE_SETTINGS.safeParse(Object.fromEntries(given)).data;
  return values && servicesOf(values);
}

export function servicesOf(values: Pick<Values, keyof typeof SERVICE_SETTINGS.shape>): FamilyServices {
  const { GATEWAY_BASE_URL, GATEWAY_API_KEY, EMULATOR_FAMILIES } = values;
  const gateway =
    GATEWAY_BASE_URL && GATEWAY_API_KEY
      ? gatewayAccounts({ baseUrl: GATEWAY_BASE_URL, apiKey: GATEWAY_API_KEY })
      : {};
  const own = GATEWAY_FAMILIES.filter((family) =>
    hasOwnService(family, (variable) => Boolean(values[variable])),
  );
  const accounts = {
    ...gateway,
    ...Object.fromEntries(own.map((family) => [family, ownAccount(family, values)])),
  };
  const isAlone = Object.keys(accounts).length === 0;
  const emulated = EMULATOR_FAMILIES ?? (isAlone ? GATEWAY_FAMILIES : []);
  const served = new Set<string>([...Object.keys(accounts), ...emulated]);
  const offered = FAMILIES.filter((family) => NEEDED[family].some((name) => served.has(name)));
  return { accounts, emulated, offered, changesImages: served.has('gen') };
}

function ownAccount(family: GatewayFamily, values: Parameters<typeof servicesOf>[0]): ServiceAccount {
  const { baseUrl, apiKey } = OWN_SETTINGS[family];
  return {
    service: 'public',
    baseUrl: values[baseUrl] ?? PUBLIC_SERVICES[family].baseUrl,
    apiKey: values[apiKey],
    models: family === 'media' ? values.MEDIA_MODELS : undefined,
  };
}

/** Where each family is served, for the log and the greeting, such as `chat: api.openai.com, music: the built-in emulator`. */
export function servicesText({ accounts, emulated }: Pick<FamilyServices, 'accounts' | 'emulated'>): string {
  const places = GATEWAY_FAMILIES.flatMap((family) => {
    const host = accounts[family] && new URL(accounts[family].baseUrl).host;
    const place = emulated.includes(family) ? EMULATOR : host;
    return place === undefined ? [] : [{ family, place }];
  });
  const [first] = places;
  const isOne =
    places.length === GATEWAY_FAMILIES.length && places.every(({ place }) => place === first?.place);
  if (first && isOne) return first.place === EMULATOR ? EMULATOR : `the gateway at ${first.place}`;
  return places.map(({ family, place }) => `${family}: ${place}`).join(', ');
}

const EMULATOR = 'the built-in emulator (no cost)';
