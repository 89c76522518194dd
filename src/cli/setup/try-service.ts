import * as prompts from '@clack/prompts';
import { lineOf } from '../../app/doctor/examine.ts';
import { refusalFinding, type ServiceNames } from '../../app/doctor/services.ts';
import { openGateway, unmeasured } from '../../app/services.ts';
import type { Gateway } from '../../gateway/client.ts';
import type { Accounts } from '../../gateway/routes.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { type SetupSession, withoutEcho } from './session.ts';

/** Makes a free request. Undefined, with a warning that names the settings, if the service refuses it. */
export async function tryService<Value>(
  session: SetupSession,
  accounts: Accounts,
  { names, at }: { readonly names: ServiceNames; readonly at: string },
  request: (gateway: Gateway) => Promise<Value>,
): Promise<Value | undefined> {
  const gateway = openGateway(accounts, { ...session.examination, measure: unmeasured });
  try {
    return await withoutEcho(session, request(gateway));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    prompts.log.warn(lineOf(refusalFinding(error, names, at)), { output: session.output });
    return undefined;
  } finally {
    await gateway.close();
  }
}
