import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type ControlPlane, startControlPlane } from '../../controlplane/control-plane.ts'
import type { Rule } from '../../src/managed/permissions.ts'
import { installDefinitions } from './support/definitions.ts'
import { compare } from './support/described-writes.ts'
import { generatedRules } from './support/operator-account.ts'
import { judge, usesIn } from './support/permissions-used.ts'
import './provided.ts'

/**
 * One cluster for the whole suite: the one that CULVERT_TEST_KUBECONFIG names, else a control plane started here with
 * an audit log at level Metadata. All operators in it work under the chart's admission policy. Returns the teardown,
 * which fails the run when an operator was refused something, by RBAC or by that policy, or, after the whole cluster
 * suite, when something was granted that none of them ever used.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kubeconfig = process.env.CULVERT_TEST_KUBECONFIG
  const copied = kubeconfig ? undefined : dataOfOthers(project)
  const controlPlane = await startControlPlane({
    auditLog: true,
    onProgress: (message) => console.error(message),
    ...(kubeconfig && { kubeconfig }),
    ...(copied && { data: copied }),
  })
  if (copied === undefined) await installDefinitions(controlPlane)
  const { auditLogPath } = controlPlane
  project.provide('clusterData', kubeconfig ? undefined : (copied ?? (await copyOf(controlPlane))))
  project.provide('isThrowaway', !kubeconfig)
  project.provide('kubeconfigPath', controlPlane.kubeconfigPath)
  project.provide('auditLogPath', auditLogPath)
  project.provide('kubectlPath', controlPlane.kubectlPath)
  return async () => {
    try {
      if (auditLogPath !== undefined) await judgePermissions(dirname(auditLogPath), await isWholeSuite(project))
    } finally {
      await controlPlane.stop()
    }
  }
}

/** What the cluster of a suite that was set up before this one held at first: it has the CRDs. */
function dataOfOthers({ vitest }: TestProject): string | undefined {
  return vitest.projects.map((each) => each.getProvidedContext().clusterData).find((data) => data !== undefined)
}

async function copyOf(controlPlane: ControlPlane): Promise<string> {
  const data = join(dirname(controlPlane.kubeconfigPath), 'copy')
  await controlPlane.copyData(data)
  return data
}

/** @throws Error with the permissions that operators lack, or have for nothing. */
async function judgePermissions(folder: string, isWhole: boolean): Promise<void> {
  const granted = {
    own: (await generatedRules('own-namespace')) as readonly Rule[],
    watched: (await generatedRules('cluster', 'dns-endpoints', 'tunnels', 'services')) as readonly Rule[],
  }
  const { uses, sent } = await usesIn(folder)
  const { refused, unused } = judge(uses, granted)
  const { undescribed, unsent } = compare(sent)
  const problems = [
    ...refused.map((permission) => `refused to an operator: ${permission}`),
    ...undescribed.map((field) => `sent by an operator, and not described: ${field}`),
    ...(isWhole ? unused.map((permission) => `granted, and used by no operator: ${permission}`) : []),
    ...(isWhole ? unsent.map((field) => `described, and sent by no operator: ${field}`) : []),
  ]
  if (problems.length > 0)
    throw new Error(
      `the audit log differs from the generated rules, or from the described writes:\n${problems.join('\n')}`,
    )
  const rest = unused.length === 0 ? '' : `; not used by this part of the suite: ${unused.join(', ')}`
  console.error(`permissions: nothing refused${unused.length === 0 ? ', everything granted was used' : rest}`)
}

/** The only suite that uses every permission; others borrow its cluster. */
const USES_ALL = 'cluster'

/**
 * Whether every test of the suite but the nightly ones ran to its end: what a part of them, or a failed one, did not
 * use may be needed all the same.
 */
async function isWholeSuite(project: TestProject): Promise<boolean> {
  if (project.name !== USES_ALL) return false
  const { testFiles } = await project.globTestFiles()
  const modules = project.vitest.state.getTestModules().filter((module) => module.project.name === project.name)
  const ran = new Set(modules.map(({ moduleId }) => moduleId))
  const passed = modules.every((module) => {
    return [...module.children.allTests()].every((test) => {
      const { state } = test.result()
      return state === 'passed' || (state === 'skipped' && test.tags.includes('nightly'))
    })
  })
  return passed && testFiles.every((file) => ran.has(file))
}
