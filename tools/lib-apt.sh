# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What tools/root and tools/deps know about apt: where the host gets its Debian
# packages from, and private apt configurations that leave the host's alone.
# Nothing here writes outside the directories it is given.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Inside the tool root the host's /etc/apt is seen at /etc/host-apt.
host_apt=/etc/apt
if [ -d /etc/host-apt ]; then
	host_apt=/etc/host-apt
fi

say()
{
	printf 'nestling: %s\n' "$*" >&2
}

die()
{
	say "$@"
	exit 1
}

cache_dir()
{
	if [ -n "${XDG_CACHE_HOME-}" ]; then
		printf '%s/nestling\n' "$XDG_CACHE_HOME"
	elif [ -n "${HOME-}" ]; then
		printf '%s/.cache/nestling\n' "$HOME"
	else
		die "neither HOME nor XDG_CACHE_HOME is set: no place for a cache"
	fi
}

# Every "URL SUITE" of the host's enabled binary sources, both file formats.
apt_sources()
{
	cat "$host_apt/sources.list" "$host_apt"/sources.list.d/*.list \
		2>/dev/null | awk '
		$1 == "deb" {
			sub(/\[[^]]*\]/, "")
			print $2, $3
		}' || true
	for f in "$host_apt"/sources.list.d/*.sources; do
		[ -e "$f" ] || continue
		awk '
		function flush(  i, j, nu, ns, u, s) {
			nu = split(uris, u)
			ns = split(suites, s)
			if (enabled && types ~ /(^| )deb( |$)/)
				for (i = 1; i <= nu; i++)
					for (j = 1; j <= ns; j++)
						print u[i], s[j]
			uris = suites = types = field = ""
			enabled = 1
		}
		BEGIN { enabled = 1 }
		/^#/ { next }
		/^[ \t]*$/ { flush(); next }
		/^[^ \t]/ {
			field = tolower($0)
			sub(/:.*/, "", field)
			sub(/^[^:]*:/, "")
		}
		field == "uris" { uris = uris " " $0 }
		field == "suites" { suites = suites " " $0 }
		field == "types" { types = types " " $0 }
		field == "enabled" { enabled = tolower($0) !~ /no|false|off/ }
		END { flush() }' "$f"
	done
}

# The first URL of a mirror list file that apt would read.
mirror_list()
{
	file=${1#mirror+file:}
	file=/${file#"${file%%[!/]*}"}
	case $file in
	/etc/apt/*)
		file=$host_apt/${file#/etc/apt/}
		;;
	esac
	awk '!/^#/ && NF { print $1; exit }' "$file" 2>/dev/null
}

# The Debian mirror to use: NESTLING_MIRROR, or the first of the host's own
# sources that carries a Debian release (no security or add-on archive).
debian_mirror()
{
	if [ -n "${NESTLING_MIRROR-}" ]; then
		printf '%s\n' "${NESTLING_MIRROR%/}"
		return
	fi
	url=$(apt_sources | awk '
		$1 ~ /security/ { next }
		$2 ~ /^(buster|bullseye|bookworm|trixie|forky|duke|sid|unstable|testing|stable|oldstable)$/ {
			print $1
			exit
		}')
	case $url in
	mirror+file:*)
		url=$(mirror_list "$url")
		;;
	esac
	[ -n "$url" ] ||
		die "no Debian mirror in this host's apt configuration:" \
			"set NESTLING_MIRROR=URL"
	printf '%s\n' "${url%/}"
}

# The host's own way of fetching (proxies, certificates, retries), as apt.conf
# lines.
apt_carry()
{
	command -v apt-config >/dev/null || return 0
	conf=$(mktemp)
	printf 'Dir::Etc "%s/";\n' "$host_apt" >"$conf"
	APT_CONFIG=$conf apt-config dump 2>/dev/null |
		grep -E '^Acquire::(https?|ftp|tor|Retries|ForceIPv|Queue|Check-|Max-|By-Hash|PDiffs)' |
		grep -v '::[A-Za-z-]* "";$' || true
	rm -f "$conf"
}

# apt_private DIR ARCH LINES: an apt configuration below DIR with its own
# status, lists and cache for packages of ARCH from the sources in LINES. Sets
# APT_CONFIG for every apt program that follows, so not to be called in a
# subshell.
apt_private()
{
	mkdir -p "$1/etc/apt.conf.d" "$1/etc/preferences.d" "$1/state" \
		"$1/lists/partial" "$1/cache/archives/partial"
	: >"$1/status"
	printf '%s\n' "$3" >"$1/sources.list"
	cat >"$1/apt.conf" <<-END
		Dir "/";
		Dir::Etc "$1/etc";
		Dir::Etc::sourcelist "$1/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Etc::netrc "$host_apt/auth.conf";
		Dir::Etc::netrcparts "$host_apt/auth.conf.d";
		Dir::State "$1/state";
		Dir::State::lists "$1/lists";
		Dir::State::status "$1/status";
		Dir::Cache "$1/cache";
		Dir::Cache::archives "$1/cache/archives";
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Sandbox::User "";
		APT::Update::Error-Mode "any";
		APT::Get::AllowUnauthenticated "false";
		Acquire::Languages "none";
		Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
	END
	apt_carry >>"$1/apt.conf"
	APT_CONFIG=$1/apt.conf
	export APT_CONFIG
}

# The line of a log that says best what went wrong.
log_cause()
{
	for pattern in '^[EW]: Failed' '^E:' '^Err:' '[Ee]rror' .; do
		cause=$(grep -e "$pattern" "$1" | tail -n 1)
		[ -z "$cause" ] || break
	done
	printf '%s\n' "$cause" | cut -c 1-300
}
