import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Scenario } from './scenarios.ts'
import type { ToolName } from './tools/tool.ts'

const FILE = join(import.meta.dirname, '..', '..', 'docs', 'gitops-table.md')
const TOOLS: readonly ToolName[] = ['Flux', 'Argo CD']

const HEAD = `# What GitOps tools show

The suite \`gitops\` runs Flux and Argo CD next to the operator, and has each apply a Git repository. After each step it waits until the tool shows the state in bold type.
Below it is the tool's message: of the Kustomization's condition \`Ready\`, or of the Application's last operation and of each resource that is not Healthy.
Written by \`CULVERT_WRITE_TABLE=1 npm run test:gitops\`.
`

/** What a tool said at a step of a scenario. */
export type Said = (tool: ToolName, title: string, step: number) => string | undefined

/**
 * Expects that the documentation has the scenarios and the states of each tool. With CULVERT_WRITE_TABLE=1 it is
 * written again, with their messages: look at it as a user would.
 *
 * @throws when a tool has not said anything at a step
 */
export async function recordTable(scenarios: readonly Scenario[], said: Said): Promise<void> {
  const table = tableOf(scenarios, said)
  if (process.env.CULVERT_WRITE_TABLE === '1') await writeFile(FILE, table)
  expect(withoutMessages(await readFile(FILE, 'utf8'))).toBe(withoutMessages(table))
}

function tableOf(scenarios: readonly Scenario[], said: Said): string {
  const rows = scenarios.flatMap(({ title, steps }) => [
    `\n## ${title}\n\n| | ${TOOLS.join(' | ')} |\n|---${'|---'.repeat(TOOLS.length)}|`,
    ...steps.map(({ when, shows }, index) => {
      const cells = TOOLS.map((tool) => cell(shows[tool], said(tool, title, index)))
      return `| ${when} | ${cells.join(' | ')} |`
    }),
  ])
  return `${HEAD}${rows.join('\n')}\n`
}

function cell(state: string, message: string | undefined): string {
  if (message === undefined) throw new Error(`nothing was recorded at a step that shows ${state}`)
  const text = message.replaceAll(/[\\|<>]/g, '\\$&').replaceAll(/\s+/g, ' ')
  return `**${state}**${text === '' ? '' : `<br>${text}`}`
}

/** Messages may list resources in another order. */
function withoutMessages(table: string): string {
  return table.replaceAll(/<br>.*?(?= \| \*\*| \|$)/gm, '')
}
