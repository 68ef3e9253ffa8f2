import { AccountAtEmulator } from '../test/chart/installed/support/account-at-emulator.ts'
import { documented } from '../test/chart/installed/support/documented.ts'
import { InstalledCluster } from '../test/chart/installed/support/installed-cluster.ts'
import type { Row } from './row.ts'

const HOME = 'culvert-system'

/**
 * Runs the commands of the README's section "Install" on a fresh control plane, up to the first Ready resource.
 * Emulator and operator run as processes with the settings of their Deployments: these times exclude pulling an image,
 * scheduling and starting a Pod.
 */
export async function run(): Promise<readonly Row[]> {
  const [install = '', giveAccount = '', firstResource = ''] = await documented('README.md', 'Install')
  await using cluster = await InstalledCluster.start()
  const steps: Row[] = []
  const timed = async (step: string, take: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await take()
    steps.push({ load: 'a new user', figure: step, value: (performance.now() - began) / 1000, unit: 's' })
  }
  await timed(firstLine(install), () => cluster.shell(install))
  await timed('the emulator answers', () => AccountAtEmulator.run(cluster, 'culvert', HOME))
  await timed('the operator leads and has filled its caches', async () => {
    const operator = await cluster.run('deployment', 'culvert', HOME)
    await operator.printed(/"msg":"reconciling"/)
  })
  await timed(firstLine(giveAccount), () => cluster.shell(giveAccount))
  await timed(`${firstLine(firstResource)}, until it is Ready`, () => cluster.shell(firstResource))
  const together = steps.reduce((sum, { value }) => sum + value, 0)
  return [...steps, { load: 'a new user', figure: 'together', value: together, unit: 's' }]
}

function firstLine(commands: string): string {
  return commands.slice(0, commands.indexOf('\n')).replace(/ (\\|<<EOF)$/, '')
}
