import { pathToFileURL } from 'node:url'
import { AccountAtEmulator } from '../test/chart/installed/support/account-at-emulator.ts'
import { documented } from '../test/chart/installed/support/documented.ts'
import { InstalledCluster } from '../test/chart/installed/support/installed-cluster.ts'

/** A step of a new user, and its duration. */
export interface Step {
  readonly step: string
  readonly seconds: number
}

const HOME = 'culvert-system'

/**
 * Runs the commands of the README's section "Install" on a fresh control plane, up to the first Ready resource.
 * Emulator and operator run as processes with the settings of their Deployments: these times exclude pulling an image,
 * scheduling and starting a Pod.
 */
export async function run(): Promise<readonly Step[]> {
  const [install = '', giveAccount = '', firstResource = ''] = await documented('README.md', 'Install')
  await using cluster = await InstalledCluster.start()
  const steps: Step[] = []
  const timed = async (step: string, take: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await take()
    steps.push({ step, seconds: (performance.now() - began) / 1000 })
  }
  await timed(firstLine(install), () => cluster.shell(install))
  await timed('the emulator answers', () => AccountAtEmulator.run(cluster, 'culvert', HOME))
  await timed('the operator leads and has filled its caches', async () => {
    const operator = await cluster.run('deployment', 'culvert', HOME)
    await operator.printed(/"msg":"reconciling"/)
  })
  await timed(firstLine(giveAccount), () => cluster.shell(giveAccount))
  await timed(`${firstLine(firstResource)}, until it is Ready`, () => cluster.shell(firstResource))
  return [...steps, { step: 'together', seconds: steps.reduce((sum, { seconds }) => sum + seconds, 0) }]
}

function firstLine(commands: string): string {
  return commands.slice(0, commands.indexOf('\n')).replace(/ (\\|<<EOF)$/, '')
}

/** As a table to read from top to bottom. */
export function printSteps(steps: readonly Step[]): void {
  for (const { step, seconds } of steps) console.log(`${seconds.toFixed(1).padStart(6)} s  ${step}`)
  console.log('Without pulling an image and starting Pods.')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) printSteps(await run())
