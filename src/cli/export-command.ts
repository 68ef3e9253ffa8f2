import { Command, InvalidArgumentError, Option } from 'commander'
import { ApiError } from '../api/errors.ts'
import { type Environment, readEnvironment } from '../config.ts'
import { kinds } from '../kinds/index.ts'
import { KindsRegistry } from '../managed/kinds-registry.ts'
import { systemClock } from '../util/clock.ts'
import { counted } from '../util/printable.ts'
import { openAccount, patientReader } from './account-client.ts'
import {
  type AccountFlags,
  AccountFlagsError,
  accountFromFlags,
  accountOptions,
  LIST_TIMEOUT_MS,
} from './account-flags.ts'
import { type ExportRequest, exportAccount } from './export/export-account.ts'
import { leftOutText, manifestText, SplitError, writeSplit } from './export/manifest-text.ts'
import { readTerraformState, StateFileError } from './export/terraform-state.ts'
import { collect } from './flags.ts'
import { showProgress } from './progress.ts'
import { standardTerminals, type Terminals } from './terminal/terminal.ts'

interface Flags extends AccountFlags {
  readonly kind: readonly string[]
  readonly id: readonly string[]
  readonly namespace: string
  readonly accountRef?: ExportRequest['accountRef']
  readonly terraformState?: string
  readonly split?: string
  readonly strict?: boolean
}

const registry = new KindsRegistry(kinds)

/** `culvert export`: the objects of an account as manifests. Writes nothing at the API. */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Write the objects of the account down as manifests. Applying them changes nothing at the API.')
    .option('--kind <kind>', 'only objects of this kind, such as Edge (repeatable)', kindNames, [])
    .option('--id <id>', 'only the object with this id (repeatable)', collect, [])
    .option('-n, --namespace <name>', 'namespace of the resources', 'default')
    .addOption(
      new Option('--account-ref <account>', 'account that the resources name, such as ClusterAccount/shared').argParser(
        accountRef,
      ),
    )
    .option('--terraform-state <file>', 'take names from this state file, and say what it covers')
    .option('--split <folder>', 'write each manifest into a file of its own, in this new or empty folder')
    .option('--strict', 'end with an error if an object is left out', false)
    .addHelpText('after', HELP)
  for (const option of accountOptions()) command.addOption(option)
  return command.action(async (flags: Flags) => {
    process.exitCode = await runExport(flags, readEnvironment(), standardTerminals())
  })
}

const HELP = `
Each resource names its object with externalID and adopts it (managementPolicy: Manage). References lead to the other
resources of the export, and to ids where there are none. Secrets are never written; where a spec needs one, a comment
says so, and the resource only observes its object.

Examples:
  CULVERT_API_KEY=… culvert export --base-url https://api.example.com -n shop > shop.yaml
  culvert export --kind Edge --kind Backend -n shop
  culvert export -n shop --split shop/ --strict
  culvert plan -f shop.yaml   # says that nothing is to be done`

/** @returns the exit code */
export async function runExport(flags: Flags, environment: Environment, { out, err }: Terminals): Promise<number> {
  const progress = showProgress(err)
  try {
    const config = accountFromFlags(flags, environment)
    if (config === undefined) throw new AccountFlagsError('no account is given: set --base-url and CULVERT_API_KEY')
    const terraform = flags.terraformState === undefined ? undefined : await readTerraformState(flags.terraformState)
    const reader = openAccount(config, {
      clock: systemClock,
      proxies: environment.proxies,
      timeoutMs: LIST_TIMEOUT_MS,
    })
    try {
      const result = await exportAccount({
        kinds: registry,
        reader: patientReader(reader, systemClock, progress.report),
        namespace: flags.namespace,
        only: flags.kind.length === 0 ? undefined : new Set(flags.kind),
        ids: flags.id.length === 0 ? undefined : new Set(flags.id),
        accountRef: flags.accountRef,
        terraform,
        progress: progress.report,
      })
      progress.end()
      if (flags.split === undefined) out.write(manifestText(result))
      else {
        await writeSplit(flags.split, result)
        err.print(`wrote ${counted(result.manifests.length, 'manifest')} into ${flags.split}`)
      }
      for (const each of result.leftOut) err.print(`left out ${leftOutText(each)}`)
      return flags.strict === true && result.leftOut.length > 0 ? 1 : 0
    } finally {
      await reader.close()
    }
  } catch (error) {
    progress.end()
    if (!isExpected(error)) throw error
    err.print(error.message)
    return 1
  }
}

function isExpected(error: unknown): error is Error {
  return [ApiError, AccountFlagsError, SplitError, StateFileError].some((type) => error instanceof type)
}

function kindNames(value: string, previous: readonly string[]): readonly string[] {
  if (registry.managedKind(value) !== undefined) return [...previous, value]
  const known = registry.managed.map(({ definition }) => definition.kind).join(', ')
  throw new InvalidArgumentError(`name one of ${known}`)
}

function accountRef(value: string): ExportRequest['accountRef'] {
  const [, kind, name] = /^(?:(Account|ClusterAccount)\/)?([a-z0-9.-]{1,253})$/.exec(value) ?? []
  if (name === undefined) throw new InvalidArgumentError('give a name, Account/NAME or ClusterAccount/NAME')
  return { kind: kind === 'ClusterAccount' ? 'ClusterAccount' : 'Account', name }
}
