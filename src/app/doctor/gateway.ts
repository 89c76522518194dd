import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import { counted } from '../../core/words.ts';
import type { Gateway } from '../../gateway/client.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { Config } from '../config/read.ts';

const SUBJECT = 'Gateway';

/** Whether the key is taken, and lists the models that the settings name. */
export async function inspectGateway(
  gateway: Pick<Gateway, 'models'>,
  { models, answers }: Pick<Config, 'models' | 'answers'>,
): Promise<Finding[]> {
  let listed: number;
  try {
    listed = (await gateway.models.refresh()).length;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [refusal(error)];
  }
  // The song models are the contract's, and no listing names them.
  const named = [
    ['ASK_MODEL', models.ask],
    ['IMAGE_MODEL', models.image],
    ['VIDEO_MODEL', models.video],
    ['VISION_MODEL', answers.visionModel],
    ['TOOL_MODEL', answers.toolModel],
  ] as const;
  return [
    good(SUBJECT, `the key is accepted, and lists ${counted(listed, 'model')}`),
    ...named.flatMap(([variable, model]) => (model === undefined ? [] : [chosen(gateway, variable, model)])),
    ...named
      .slice(0, 3)
      .flatMap(([variable, model]) =>
        model === undefined
          ? [
              warning(
                SUBJECT,
                `${variable} is not set, so people are told to choose a model`,
                `set ${variable}, or let moderators choose by /models set`,
              ),
            ]
          : [],
      ),
  ];
}

function chosen({ models }: Pick<Gateway, 'models'>, variable: string, written: string): Finding {
  const id = written.replace(/^(?:chat|msg|gen):/, '');
  const choice = models.resolve(id);
  switch (choice.kind) {
    case 'id':
      return good(SUBJECT, `${variable} is ${id}, which is listed`);
    case 'label':
      return wrong(
        SUBJECT,
        `${variable} is the name of a model, and not its id`,
        `set it to ${choice.model.id}`,
      );
    case 'unknown':
      // Not every route lists its models.
      return warning(
        SUBJECT,
        `${variable} is ${id}, which this account's lists do not name`,
        choice.nearest.length === 0
          ? 'check its spelling; /models lists what there is'
          : `did you mean ${choice.nearest.join(', ')}?`,
      );
    case 'unlisted':
      return warning(SUBJECT, `${variable} could not be checked`, 'try again');
    default:
      return choice satisfies never;
  }
}

function refusal(error: GatewayError): Finding {
  switch (error.code) {
    case 'auth':
    case 'forbidden':
      return wrong(
        SUBJECT,
        'the key was refused',
        'set GATEWAY_API_KEY to a key of your account at the gateway',
      );
    case 'not-found':
    case 'no-api':
      return wrong(
        SUBJECT,
        'what answers there is not the gateway',
        'set GATEWAY_BASE_URL to the address that the gateway gives, without /v1 or another path of its own',
      );
    default:
      return wrong(
        SUBJECT,
        `it does not list its models (${error.code})`,
        'check GATEWAY_BASE_URL and the way out of this machine; then try again',
      );
  }
}
