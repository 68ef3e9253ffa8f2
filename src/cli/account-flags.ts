import { Option } from 'commander'
import { checkBaseURL } from '../api/base-url.ts'
import type { Environment } from '../config.ts'
import type { SessionConfig } from '../managed/accounts/session.ts'
import { accountDefaults } from '../managed/descriptor/account.ts'

/** Flags that say which account a command reads. */
export interface AccountFlags {
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly versionHeader?: string
}

/** The flags, for a command that takes them; the environment gives what they leave out. */
export function accountOptions(): readonly Option[] {
  return [
    new Option('--base-url <url>', 'address of the API (default: CULVERT_BASE_URL)'),
    new Option('--api-key <key>', 'API key (default: CULVERT_API_KEY, which other users of the machine cannot see)'),
    new Option(
      '--version-header <name>',
      'header that selects the version of the API (default: CULVERT_VERSION_HEADER, or Service-Version)',
    ),
  ]
}

/** The account cannot be read as asked. The message names the flag, and the remedy. */
export class AccountFlagsError extends Error {
  override readonly name = 'AccountFlagsError'
  readonly code = 'ACCOUNT_NOT_GIVEN'
}

/**
 * The account that flags and environment name; undefined if they name none. @throws AccountFlagsError for half of one
 */
export function accountFromFlags(
  flags: AccountFlags,
  { account }: Pick<Environment, 'account'>,
): SessionConfig | undefined {
  const baseURL = flags.baseUrl ?? account.baseURL
  const apiKey = flags.apiKey ?? account.apiKey
  if (baseURL === undefined && flags.apiKey === undefined) return undefined
  if (baseURL === undefined) throw new AccountFlagsError('an API key is set without an address: add --base-url')
  if (apiKey === undefined) throw new AccountFlagsError('an address is set without an API key: set CULVERT_API_KEY')
  const checked = checkBaseURL(baseURL, { allowedHosts: [hostOf(baseURL)], allowHTTP: true })
  if (!checked.ok) throw new AccountFlagsError(checked.message.replace(/^baseURL/, '--base-url'))
  return {
    baseURL: checked.url,
    apiKey: apiKey.trim(),
    versionHeader: flags.versionHeader ?? account.versionHeader ?? accountDefaults.versionHeader,
    caBundle: undefined,
    requestsPerMinute: undefined,
    burst: undefined,
  }
}

/** The person who runs a command decides which host it calls: the one in the address. */
export function hostOf(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).host : ''
}

/** How long a request to such an account may take, in milliseconds: pages of long lists take their time. */
export const LIST_TIMEOUT_MS = 30_000
