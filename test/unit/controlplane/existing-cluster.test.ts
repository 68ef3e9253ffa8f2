import { describe, expect, it } from 'vitest'
import { startControlPlane } from '../../../controlplane/control-plane.ts'
import { serverOfCurrentContext } from '../../../controlplane/existing-cluster.ts'

const KUBECONFIG = `
apiVersion: v1
kind: Config
current-context: kind-culvert
contexts:
- {name: other, context: {cluster: other, user: other}}
- {name: kind-culvert, context: {cluster: culvert, user: admin}}
clusters:
- {name: other, cluster: {server: "https://other.example:6443"}}
- {name: culvert, cluster: {server: "https://127.0.0.1:41234"}}
users:
- {name: admin, user: {token: very-secret}}
`

describe('an existing cluster', () => {
  it('has the address of the current context', () => {
    expect(serverOfCurrentContext(KUBECONFIG, 'file')).toBe('https://127.0.0.1:41234')
  })

  it.each([
    ['is empty', ''],
    ['has no current context', KUBECONFIG.replace('current-context: kind-culvert', '')],
    ['names a context that is not there', KUBECONFIG.replace('current-context: kind-culvert', 'current-context: gone')],
    ['is not YAML', `${KUBECONFIG}\n  - {`],
  ])('is refused when its kubeconfig %s, without quoting it', (_name, text) => {
    let error: unknown
    try {
      serverOfCurrentContext(text, '/home/ada/config')
    } catch (reason) {
      error = reason
    }
    expect(error).toMatchObject({ code: 'KUBECONFIG_INVALID' })
    expect(String(error)).toContain('/home/ada/config')
    expect(JSON.stringify(error) + String(error)).not.toContain('very-secret')
  })

  it('is refused when its kubeconfig is not there', async () => {
    await expect(startControlPlane({ kubeconfig: '/nonexistent/config' })).rejects.toMatchObject({
      code: 'KUBECONFIG_INVALID',
      cause: { code: 'ENOENT' },
    })
  })
})
