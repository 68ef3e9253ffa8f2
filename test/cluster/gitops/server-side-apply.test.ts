import { expect, inject, test } from 'vitest'
import { createKubectl, type Kubectl } from '../../../controlplane/kubectl.ts'
import '../provided.ts'
import { applyNeeds, casesTitled, managed, subjectsOf } from '../support/cases.ts'
import { type Resource, World } from '../support/world.ts'

interface ManagedFields {
  readonly manager: string
  readonly subresource?: string
  readonly fieldsV1: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

async function succeed(kubectl: Kubectl, args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await kubectl.run(args, stdin === undefined ? {} : { stdin })
  expect([code, stderr, args.includes('diff') ? stdout : '']).toEqual([0, '', ''])
  return stdout
}

test('a tool that applies manifests repeatedly sees no difference and no conflict, even next to others', {
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  const kubectl = createKubectl({ path: inject('kubectlPath'), kubeconfig: world.kubeconfig })
  const cases = casesTitled('full')
  await applyNeeds(world, cases, ['synced'])
  const subjects = subjectsOf(cases, 'synced')
  const { namespace } = world
  const manifests = JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: subjects.map(({ kind, name, spec }) => {
      return {
        apiVersion: 'culvert.dev/v1alpha1',
        kind,
        metadata: { name, namespace, labels: { tool: 'gitops' } },
        spec,
      }
    }),
  })
  const as = (manager: string) => ['--server-side', `--field-manager=${manager}`, '-f', '-']

  await succeed(kubectl, ['apply', ...as('argocd-controller')], manifests)
  const applied = await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  await succeed(kubectl, ['diff', ...as('argocd-controller')], manifests)
  await succeed(kubectl, ['apply', ...as('kustomize-controller')], manifests)
  await succeed(kubectl, ['apply', ...as('argocd-controller')], manifests)
  const after = await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  const generations = (crs: readonly Resource[]) => crs.map(({ metadata }) => metadata.generation)
  expect(generations(after)).toEqual(generations(applied))

  const plurals = managed.map(({ definition }) => `${definition.plural}.culvert.dev`).join()
  const list = await succeed(kubectl, ['get', plurals, '-n', namespace, '-o', 'json', '--show-managed-fields'])
  const { items } = JSON.parse(list) as {
    items: readonly (Resource & { metadata: { managedFields: ManagedFields[] } })[]
  }
  const synced = items.filter(({ metadata }) => metadata.labels?.tool === 'gitops')
  expect(synced).toHaveLength(subjects.length)
  for (const { kind, metadata } of synced) {
    const own = metadata.managedFields.filter(({ manager }) => !/controller$/.test(manager))
    expect(own.length, kind).toBeGreaterThan(0)
    for (const { fieldsV1, subresource } of own) {
      const fields = Object.keys(fieldsV1).filter((field) => field !== 'f:metadata' && field !== 'f:status')
      expect(fields, `${kind}: what the operator owns, ${subresource ?? 'status aside'}`).toEqual([])
    }
  }
})
