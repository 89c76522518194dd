import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import { connectionFault, isWithoutTls } from '../../core/util/connection-fault.ts';
import { counted } from '../../core/util/words.ts';
import type { Gateway } from '../../gateway/client.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { Config } from '../config/read.ts';

const SUBJECT = 'Gateway';

/** Checks the key, and looks up the models in the settings. */
export async function inspectGateway(
  gateway: Pick<Gateway, 'models'>,
  { gateway: account, models, answers }: Pick<Config, 'gateway' | 'models' | 'answers'>,
): Promise<Finding[]> {
  let listed: number;
  try {
    listed = (await gateway.models.refresh()).length;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [gatewayRefusal(error, account?.baseUrl)];
  }
  // Song models are fixed and never listed.
  const configured = [
    ['ASK_MODEL', models.ask],
    ['IMAGE_MODEL', models.image],
    ['VIDEO_MODEL', models.video],
    ['VISION_MODEL', answers.visionModel],
    ['TOOL_MODEL', answers.toolModel],
  ] as const;
  return [
    good(SUBJECT, `the key works; ${counted(listed, 'model')} available`),
    ...configured.flatMap(([variable, model]) =>
      model === undefined ? [] : [modelFinding(gateway, variable, model)],
    ),
    ...configured
      .slice(0, 3)
      .flatMap(([variable, model]) =>
        model === undefined
          ? [
              warning(
                SUBJECT,
                `${variable} is not set, so people have to choose a model`,
                `set ${variable}, or let moderators set a default with /models set`,
              ),
            ]
          : [],
      ),
  ];
}

function modelFinding({ models }: Pick<Gateway, 'models'>, variable: string, name: string): Finding {
  const id = name.replace(/^(?:chat|msg|gen):/, '');
  const choice = models.resolve(id);
  switch (choice.kind) {
    case 'id':
      return good(SUBJECT, `${variable} is ${id}, which is available`);
    case 'label':
      return wrong(SUBJECT, `${variable} is a model's name, not its id`, `set it to ${choice.model.id}`);
    case 'unknown':
      // Some routes do not list their models.
      return warning(
        SUBJECT,
        `${variable} is ${id}, which is not in your account's model list`,
        choice.nearest.length === 0
          ? 'check the spelling; /models lists the available models'
          : `did you mean ${choice.nearest.join(', ')}?`,
      );
    case 'unlisted':
      return warning(SUBJECT, `${variable} could not be checked`, 'try again');
    default:
      return choice satisfies never;
  }
}

/** Explains why the models could not be listed. */
export function gatewayRefusal(error: GatewayError, baseUrl = ''): Finding {
  switch (error.code) {
    case 'auth':
    case 'forbidden':
      return wrong(
        SUBJECT,
        'the gateway rejected the key',
        'set GATEWAY_API_KEY to a valid key of your gateway account',
      );
    case 'not-found':
    case 'no-api':
      return wrong(
        SUBJECT,
        'the server at GATEWAY_BASE_URL is not the gateway',
        "set GATEWAY_BASE_URL to the gateway's base URL, without /v1 or other API paths",
      );
    case 'network': {
      const fault = connectionFault(error);
      const url = URL.parse(baseUrl);
      return isWithoutTls(fault) && url
        ? wrong(
            SUBJECT,
            'GATEWAY_BASE_URL starts with https://, but this server speaks only http',
            `set GATEWAY_BASE_URL to ${baseUrl.replace(/^https/, 'http')}, or correct its port`,
          )
        : wrong(
            SUBJECT,
            `${url?.host ?? 'the gateway'} cannot be reached: ${fault?.reason ?? 'the connection failed'}`,
            "check GATEWAY_BASE_URL and this machine's network, then try again",
          );
    }
    default:
      return wrong(
        SUBJECT,
        `could not list models (${error.code})`,
        "check GATEWAY_BASE_URL and this machine's network, then try again",
      );
  }
}
