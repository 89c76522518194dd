/** Asks for the operator's own keys, family by family. */
import * as prompts from '@clack/prompts';
import { OWN_SETTINGS, servicesIn } from '../../app/config/accounts.ts';
import { namesOf } from '../../app/doctor/services.ts';
import type { Model } from '../../gateway/models/listing.ts';
import { GATEWAY_FAMILIES, type GatewayFamily, PUBLIC_SERVICES } from '../../gateway/routes.ts';
import { askModels } from './models.ts';
import { askPublicUrl } from './public-url.ts';
import { answerTo, askSetting, clearSettings, type SetupSession, settingsOf, streamsOf } from './session.ts';
import { tryService } from './try-service.ts';

interface Place {
  readonly label: string;
  /** Empty for the family's default. */
  readonly baseUrl: string;
  /** The page where keys are created. Undefined if no key is needed. */
  readonly keys?: string;
}

/** The services to choose from. Another base URL can be typed. */
const PLACES: Readonly<Record<GatewayFamily, readonly Place[]>> = {
  chat: [
    { label: 'OpenAI', baseUrl: '', keys: 'https://platform.openai.com/api-keys' },
    { label: 'Ollama on this machine', baseUrl: 'http://127.0.0.1:11434/v1' },
    { label: 'LM Studio on this machine', baseUrl: 'http://127.0.0.1:1234/v1' },
    {
      label: 'OpenRouter',
      baseUrl: 'https://openrouter.ai/api/v1',
      keys: 'https://openrouter.ai/settings/keys',
    },
    { label: 'Groq', baseUrl: 'https://api.groq.com/openai/v1', keys: 'https://console.groq.com/keys' },
    { label: 'Mistral', baseUrl: 'https://api.mistral.ai/v1', keys: 'https://console.mistral.ai/api-keys' },
  ],
  msg: [{ label: 'Anthropic', baseUrl: '', keys: 'https://platform.claude.com/settings/keys' }],
  gen: [{ label: 'Google AI Studio', baseUrl: '', keys: 'https://aistudio.google.com/apikey' }],
  media: [
    {
      label: 'DashScope, international (Singapore)',
      baseUrl: '',
      keys: 'https://modelstudio.console.alibabacloud.com/?tab=dashboard#/api-key',
    },
    {
      label: 'DashScope, China (Beijing)',
      baseUrl: 'https://dashscope.aliyuncs.com/api/v1',
      keys: 'https://bailian.console.aliyun.com/?tab=model#/api-key',
    },
  ],
  music: [{ label: 'sunoapi.org', baseUrl: '', keys: 'https://sunoapi.org/api-key' }],
};

const FAMILY_OPTIONS: readonly {
  readonly value: GatewayFamily;
  readonly label: string;
  readonly hint: string;
}[] = [
  {
    value: 'chat',
    label: 'Answers from an OpenAI-compatible service',
    hint: 'OpenAI, Ollama, OpenRouter, Groq, Mistral, …',
  },
  { value: 'msg', label: 'Answers from Anthropic', hint: '/ask with Claude models' },
  {
    value: 'gen',
    label: 'Answers and images from Google AI Studio',
    hint: '/ask and /image with Gemini models',
  },
  { value: 'media', label: 'Images and videos from DashScope', hint: '/image, /video' },
  { value: 'music', label: 'Songs from sunoapi.org', hint: '/song, /lyrics, /stems, /remix' },
];

export async function askOwnKeys(session: SetupSession): Promise<void> {
  const families = await answerTo(
    prompts.multiselect({
      message: 'Which services do you have? (press Space to select)',
      options: [...FAMILY_OPTIONS],
      initialValues: GATEWAY_FAMILIES.filter((family) =>
        Object.values(OWN_SETTINGS[family]).some((variable) => session.current[variable]),
      ),
      required: true,
      ...streamsOf(session),
    }),
  );
  const models: Model[] = [];
  for (const { value: family } of FAMILY_OPTIONS) {
    if (families.includes(family)) models.push(...(await askOwnKey(session, family)));
    else clearSettings(session, Object.values(OWN_SETTINGS[family]));
  }
  if (families.includes('music')) await askPublicUrl(session);
  const has = (...any: readonly GatewayFamily[]) => any.some((family) => families.includes(family));
  await askModels(session, models, {
    answers: has('chat', 'msg', 'gen'),
    pictures: has('media', 'gen'),
    videos: has('media'),
  });
}

const OTHER = 'other';

/** Returns the models of the service. */
async function askOwnKey(session: SetupSession, family: GatewayFamily): Promise<readonly Model[]> {
  const { baseUrl, apiKey } = OWN_SETTINGS[family];
  const place = await askPlace(session, family);
  if (place === undefined) await askSetting(session, baseUrl, 'Base URL');
  else session.changes.set(baseUrl, place.baseUrl);
  const needsKey = place === undefined ? family !== 'chat' : place.keys !== undefined;
  if (place?.keys)
    prompts.note(place.keys, `Create a key for ${place.label} here`, { output: session.output });
  if (place && !needsKey) session.changes.set(apiKey, '');
  for (;;) {
    if (place === undefined || needsKey)
      await askSetting(session, apiKey, 'API key', { isSecret: true, isOptional: !needsKey });
    const models = await tryKey(session, family);
    if (models) return models;
    const again = await answerTo(
      prompts.confirm({ message: 'Try again?', initialValue: needsKey, ...streamsOf(session) }),
    );
    if (!again) return [];
  }
}

/** Undefined for a base URL to be typed. */
async function askPlace(session: SetupSession, family: GatewayFamily): Promise<Place | undefined> {
  const places = PLACES[family];
  const present = session.current[OWN_SETTINGS[family].baseUrl] ?? '';
  const known = places.findIndex(({ baseUrl }) => baseUrl === present);
  const answer = await answerTo(
    prompts.select({
      message: `${FAMILY_OPTIONS.find(({ value }) => value === family)?.label}: which service?`,
      options: [
        ...places.map(({ label, baseUrl }, index) => ({
          value: String(index),
          label,
          hint: baseUrl || PUBLIC_SERVICES[family].baseUrl,
        })),
        { value: OTHER, label: 'Another compatible service', hint: 'you have its base URL' },
      ],
      initialValue: known < 0 ? OTHER : String(known),
      ...streamsOf(session),
    }),
  );
  return places[Number(answer)];
}

/** Undefined, with a warning, if the service does not accept the key. */
async function tryKey(session: SetupSession, family: GatewayFamily): Promise<readonly Model[] | undefined> {
  const account = servicesIn(settingsOf(session))?.accounts[family];
  if (account === undefined) return undefined;
  const place = { names: namesOf(family), at: account.baseUrl };
  const models = await tryService(session, { [family]: account }, place, async (gateway) => {
    await gateway.checkKey(family);
    return gateway.models.refresh();
  });
  if (models)
    prompts.log.success(`${new URL(account.baseUrl).host} accepts requests.`, { output: session.output });
  return models;
}
