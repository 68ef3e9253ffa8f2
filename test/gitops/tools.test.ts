import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import '../cluster/provided.ts'
import { scenarios } from './scenarios.ts'
import { Stage } from './stage.ts'
import { recordTable } from './table.ts'
import { ArgoCD } from './tools/argocd.ts'
import { Flux } from './tools/flux.ts'
import type { Tool, ToolName } from './tools/tool.ts'

const START = { Flux: Flux.start, 'Argo CD': ArgoCD.start } as const
/** What a tool said at each step. */
const said = new Map<string, string>()

describe.each(Object.keys(START) as ToolName[])('%s', (name) => {
  let tool: Tool | undefined
  const cluster = () => ({ kubeconfig: inject('kubeconfigPath'), kubectlPath: inject('kubectlPath') })

  beforeAll(async () => {
    tool = await START[name](cluster())
  }, 1_800_000)
  afterAll(() => tool?.[Symbol.asyncDispose]())

  test.concurrent.each(scenarios)('$title', async ({ title, world = {}, files, steps }) => {
    if (tool === undefined) throw new Error(`${name} does not run`)
    await using stage = await Stage.open(tool, cluster(), world, files)
    for (const [index, { act, shows, holds }] of steps.entries()) {
      await act?.(stage)
      said.set(`${name} ${title} ${index}`, await stage.shows(shows[name]))
      await holds?.(stage)
    }
  })
})

test('are documented as they are', async () => {
  await recordTable(scenarios, (tool, title, step) => said.get(`${tool} ${title} ${step}`))
})
