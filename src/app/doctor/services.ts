/** Checks the keys of all services, and looks up the models in the settings. */

import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import { FAMILIES, FAMILY_NOUNS, FAMILY_SETTINGS, type Family } from '../../core/models/family.ts';
import { modelNames } from '../../core/models/model-name.ts';
import { connectionFault, isWithoutTls } from '../../core/util/connection-fault.ts';
import { counted } from '../../core/util/words.ts';
import type { Gateway } from '../../gateway/client.ts';
import {
  type Accounts,
  GATEWAY_FAMILIES,
  type GatewayFamily,
  PUBLIC_SERVICES,
  type ServiceAccount,
} from '../../gateway/routes.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { type FamilyServices, OWN_SETTINGS } from '../config/accounts.ts';
import type { Config } from '../config/read.ts';

type Checked = Pick<Gateway, 'models' | 'checkKey'>;

/** How findings name a service and its settings. */
export interface ServiceNames {
  readonly subject: string;
  readonly service: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** A valid base URL, in words. */
  readonly example: string;
}

export const GATEWAY_NAMES: ServiceNames = {
  subject: 'Gateway',
  service: 'the gateway',
  baseUrl: 'GATEWAY_BASE_URL',
  apiKey: 'GATEWAY_API_KEY',
  example: "the gateway's base URL, without /v1 or other API paths",
};

export function namesOf(family: GatewayFamily): ServiceNames {
  return {
    subject: OWN_SUBJECTS[family],
    service: `the ${family} service`,
    ...OWN_SETTINGS[family],
    example: `the service's base URL, such as ${PUBLIC_SERVICES[family].baseUrl}`,
  };
}

const OWN_SUBJECTS = {
  chat: 'OpenAI-compatible service (chat)',
  msg: 'Anthropic service (msg)',
  gen: 'Google service (gen)',
  media: 'DashScope service (media)',
  music: 'sunoapi.org service (music)',
} as const satisfies Record<GatewayFamily, string>;

export async function inspectServices(
  gateway: Checked,
  config: Pick<Config, 'models' | 'answers'> & FamilyServices,
): Promise<Finding[]> {
  const { accounts, emulated } = config;
  const servedBy = (service: ServiceAccount['service']) =>
    GATEWAY_FAMILIES.filter((family) => accounts[family]?.service === service);
  // The checks below explain a failure.
  await gateway.models.refresh().catch(() => undefined);
  const [gatewayFindings, ...ownFindings] = await Promise.all([
    inspectGateway(gateway, servedBy('gateway'), accounts),
    ...servedBy('public').map((family) => inspectOwn(gateway, family, accounts[family]?.baseUrl)),
  ]);
  return [
    ...(emulated.length > 0 ? [emulatedFinding(emulated)] : []),
    ...gatewayFindings,
    ...ownFindings.flat(),
    ...(gatewayFindings.some(({ level }) => level === 'wrong') ? [] : modelFindings(gateway, config)),
    ...missingFindings(config),
  ];
}

/** Empty if the gateway's key cannot be checked for free, because it serves songs only. */
async function inspectGateway(
  gateway: Checked,
  families: readonly GatewayFamily[],
  accounts: Accounts,
): Promise<Finding[]> {
  const [baseUrl = ''] = families.map((family) => accounts[family]?.baseUrl);
  return explained(GATEWAY_NAMES, baseUrl, async () => {
    const listed = gateway.models.cached().filter(({ isOwn }) => !isOwn).length;
    const works = (families.length > 0 && listed > 0) || (await gateway.checkKey(...families));
    return works ? [good(GATEWAY_NAMES.subject, `the key works; ${counted(listed, 'model')} available`)] : [];
  });
}

async function inspectOwn(gateway: Checked, family: GatewayFamily, baseUrl = ''): Promise<Finding[]> {
  const names = namesOf(family);
  return explained(names, baseUrl, async () => {
    await gateway.checkKey(family);
    const models = gateway.models
      .cached()
      .filter(({ listedBy }) => listedBy?.some((name) => name === family));
    const many = models.length > 0 ? `; ${counted(models.length, 'model')} available` : '';
    return [good(names.subject, `${new URL(baseUrl).host} accepts requests${many}`)];
  });
}

/** Runs a check, and explains why the service refused its request. */
async function explained(
  names: ServiceNames,
  baseUrl: string,
  check: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [refusalFinding(error, names, baseUrl)];
  }
}

function emulatedFinding(families: readonly GatewayFamily[]): Finding {
  return families.length === GATEWAY_FAMILIES.length
    ? good(GATEWAY_NAMES.subject, 'using the built-in emulator: no real models, no cost')
    : good(
        'Emulator',
        `the built-in emulator simulates ${families.join(', ')}, because EMULATOR_FAMILIES names them`,
      );
}

/** Families without a service are not an error: their commands are not offered. */
function missingFindings({ offered }: Pick<FamilyServices, 'offered'>): Finding[] {
  return FAMILIES.filter((family) => !offered.includes(family)).map((family) =>
    good(
      'Commands',
      `there is no service for ${FAMILY_NOUNS[family].many}, so their commands are not offered; set ${FAMILY_SETTINGS[family]} to add them`,
    ),
  );
}

const MODELS = 'Models';

/** Song models are fixed and never listed. */
function modelFindings(
  gateway: Checked,
  { models, answers, emulated, offered }: Pick<Config, 'models' | 'answers'> & FamilyServices,
): Finding[] {
  if (emulated.length === GATEWAY_FAMILIES.length) return [];
  const defaults = [
    ['ASK_MODEL', models.ask, 'ask', 'answers'],
    ['IMAGE_MODEL', models.image, 'image', 'pictures'],
    ['VIDEO_MODEL', models.video, 'video', 'videos'],
  ] as const satisfies readonly (readonly [string, string | undefined, Family, string])[];
  const special = [
    ['VISION_MODEL', answers.visionModel],
    ['TOOL_MODEL', answers.toolModel],
  ] as const;
  const set = [...defaults.map(([variable, model]) => [variable, model] as const), ...special];
  return [
    ...set.flatMap(([variable, model]) =>
      modelNames(model ?? '').map((name) => modelFinding(gateway, variable, name)),
    ),
    ...defaults.flatMap(([variable, model, family, use]) => {
      if (model !== undefined || !offered.includes(family)) return [];
      const instead = gateway.models.preferred(use)?.id;
      return [
        warning(
          MODELS,
          instead === undefined
            ? `${variable} is not set, so people have to choose a model`
            : `${variable} is not set, so ${instead} is used`,
          `set ${variable}, or let moderators set a default with /models set`,
        ),
      ];
    }),
  ];
}

function modelFinding({ models }: Checked, variable: string, name: string): Finding {
  const id = name.replace(/^(?:chat|msg|gen):/, '');
  const choice = models.resolve(id);
  switch (choice.kind) {
    case 'id':
      return good(MODELS, `${variable} is ${id}, which is available`);
    case 'label':
      return wrong(MODELS, `${variable} is a model's name, not its ID`, `set it to ${choice.model.id}`);
    case 'unknown':
      // Some routes do not list their models.
      return warning(
        MODELS,
        `${variable} is ${id}, which is not in your account's model list`,
        choice.nearest.length === 0
          ? 'check the spelling; type in the model field of /models set to see the available models'
          : `did you mean ${choice.nearest.join(', ')}?`,
      );
    case 'unlisted':
      return warning(MODELS, `${variable} could not be checked`, 'try again');
    default:
      return choice satisfies never;
  }
}

/** Explains why a service refused a free request. */
export function refusalFinding(error: GatewayError, names: ServiceNames, at: string): Finding {
  const { subject, service, baseUrl, apiKey, example } = names;
  switch (error.code) {
    case 'auth':
    case 'forbidden':
      return wrong(
        subject,
        `${service} rejected the key`,
        `set ${apiKey} to a valid key of ${new URL(at).host}`,
      );
    case 'not-found':
    case 'no-api':
      return wrong(subject, `the server at ${baseUrl} is not ${service}`, `set ${baseUrl} to ${example}`);
    case 'network': {
      const fault = connectionFault(error);
      const url = URL.parse(at);
      return isWithoutTls(fault) && url
        ? wrong(
            subject,
            `${baseUrl} starts with https://, but this server speaks only http`,
            `set ${baseUrl} to ${at.replace(/^https/, 'http')}, or correct its port`,
          )
        : wrong(
            subject,
            `${url?.host ?? service} cannot be reached: ${fault?.reason ?? 'the connection failed'}`,
            `check ${baseUrl} and this machine's network, then try again`,
          );
    }
    default:
      return wrong(
        subject,
        `could not check the key (${error.code})`,
        `check ${baseUrl} and this machine's network, then try again`,
      );
  }
}
