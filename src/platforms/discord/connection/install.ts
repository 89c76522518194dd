/** Prepares the application for being added to servers and accounts, for `npm run setup`. */
import { ApplicationIntegrationType, OAuth2Scopes, Routes } from 'discord.js';
import { platformErrorOf } from '../errors.ts';
import { INVITED } from '../permissions.ts';
import { applicationSchema, guildsSchema, hasMessageContent, invitationUrl, PORTAL } from './inspect.ts';
import { type DiscordAccount, openRest } from './rest.ts';

export interface InstallableApplication {
  readonly name: string;
  /** Adds the bot to a server. */
  readonly invitation: string;
  /** The application's pages in the Developer Portal, without a trailing slash. */
  readonly portalUrl: string;
  /** True if the privileged intent is on. */
  readonly hasMessageContent: boolean;
}

/** https://docs.discord.com/developers/resources/application#edit-current-application */
const INSTALLATION = {
  integration_types_config: {
    [ApplicationIntegrationType.GuildInstall]: {
      oauth2_install_params: {
        scopes: [OAuth2Scopes.ApplicationsCommands, OAuth2Scopes.Bot],
        permissions: String(INVITED),
      },
    },
    [ApplicationIntegrationType.UserInstall]: {
      oauth2_install_params: { scopes: [OAuth2Scopes.ApplicationsCommands], permissions: '0' },
    },
  },
};

/** Lets servers and people add the application, with the permissions it needs. Throws PlatformError. */
export async function prepareApplication(account: DiscordAccount): Promise<InstallableApplication> {
  try {
    const application = applicationSchema.parse(await openRest(account).editApplication(INSTALLATION));
    return {
      name: application.name,
      invitation: invitationUrl(application.id),
      portalUrl: `${PORTAL}/${application.id}`,
      hasMessageContent: hasMessageContent(application),
    };
  } catch (error) {
    throw platformErrorOf(error);
  }
}

/** Whether any server has the bot. Throws PlatformError. */
export async function isInServer(account: DiscordAccount): Promise<boolean> {
  try {
    return guildsSchema.parse(await openRest(account).read(Routes.userGuilds())).length > 0;
  } catch (error) {
    throw platformErrorOf(error);
  }
}
