# bash completion for swt(1). Generated from the option table by `make gen`; do not edit.
# shellcheck shell=bash
_swt() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options kind
    COMPREPLY=()
    # --option=value comes as three words
    if [ "$cur" = = ]; then
        cur=''
    elif [ "$prev" = = ]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if [ "$COMP_CWORD" -le 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'record window info verify help --help --version' -- "$cur")
        return
    fi
    case "${COMP_WORDS[1]} $prev" in
    'record --output' | 'record -o')
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return ;;
    'record --store')
        mapfile -t COMPREPLY < <(compgen -W 'packets tensor both' -- "$cur")
        return ;;
    'record --name')
        return ;;
    'record --size')
        return ;;
    'record --fps')
        return ;;
    'record --pixel')
        mapfile -t COMPREPLY < <(compgen -W 'rgb24 bgr24 rgba bgra argb abgr rgb0 bgr0 0rgb 0bgr rgb48 bgr48 rgba64 bgra64 rgb565 bgr565 rgb555 bgr555 gray gray9 gray10 gray12 gray14 gray16 ya8 ya16 yuv420p yuv422p yuv444p yuv440p yuv411p yuv410p yuvj420p yuvj422p yuvj444p yuvj440p yuvj411p yuva420p yuva422p yuva444p yuv420p9 yuv422p9 yuv444p9 yuv420p10 yuv422p10 yuv444p10 yuv420p12 yuv422p12 yuv444p12 yuv420p14 yuv422p14 yuv444p14 yuv420p16 yuv422p16 yuv444p16 yuv440p10 yuv440p12 yuva420p9 yuva422p9 yuva444p9 yuva420p10 yuva422p10 yuva444p10 yuva422p12 yuva444p12 yuva420p16 yuva422p16 yuva444p16 nv12 nv21 nv16 nv24 nv42 p010 p016 p210 p216 p410 p416 yuyv422 uyvy422 yvyu422 gbrp gbrp9 gbrp10 gbrp12 gbrp14 gbrp16 gbrap gbrap10 gbrap12 gbrap16' -- "$cur")
        return ;;
    'record --rate')
        return ;;
    'record --channels')
        return ;;
    'record --dtype')
        mapfile -t COMPREPLY < <(compgen -W 'u8 s16 s32 f32' -- "$cur")
        return ;;
    'record --tensor')
        return ;;
    'record --video')
        return ;;
    'record --audio')
        return ;;
    'record --duration')
        return ;;
    'record --frames')
        return ;;
    'record --segment-bytes')
        return ;;
    'record --segment-duration')
        return ;;
    'record --sync')
        return ;;
    'record --timeout')
        return ;;
    'record --control')
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return ;;
    'window --last')
        return ;;
    'window --from')
        return ;;
    'window --to')
        return ;;
    'window --for')
        return ;;
    'window --at')
        return ;;
    'window --frames')
        return ;;
    'window --stream')
        return ;;
    'window --stride')
        return ;;
    'window --edge')
        mapfile -t COMPREPLY < <(compgen -W 'error trim repeat zero' -- "$cur")
        return ;;
    'window --size')
        return ;;
    'window --filter')
        mapfile -t COMPREPLY < <(compgen -W 'bilinear area bicubic nearest' -- "$cur")
        return ;;
    'window --crop')
        return ;;
    'window --pixel')
        mapfile -t COMPREPLY < <(compgen -W 'stored rgb24 bgr24 rgba bgra argb abgr rgb0 bgr0 0rgb 0bgr rgb48 bgr48 rgba64 bgra64 rgb565 bgr565 rgb555 bgr555 gray gray9 gray10 gray12 gray14 gray16 ya8 ya16 yuv420p yuv422p yuv444p yuv440p yuv411p yuv410p yuvj420p yuvj422p yuvj444p yuvj440p yuvj411p yuva420p yuva422p yuva444p yuv420p9 yuv422p9 yuv444p9 yuv420p10 yuv422p10 yuv444p10 yuv420p12 yuv422p12 yuv444p12 yuv420p14 yuv422p14 yuv444p14 yuv420p16 yuv422p16 yuv444p16 yuv440p10 yuv440p12 yuva420p9 yuva422p9 yuva444p9 yuva420p10 yuva422p10 yuva444p10 yuva422p12 yuva444p12 yuva420p16 yuva422p16 yuva444p16 nv12 nv21 nv16 nv24 nv42 p010 p016 p210 p216 p410 p416 yuyv422 uyvy422 yvyu422 gbrp gbrp9 gbrp10 gbrp12 gbrp14 gbrp16 gbrap gbrap10 gbrap12 gbrap16' -- "$cur")
        return ;;
    'window --dtype')
        mapfile -t COMPREPLY < <(compgen -W 'u8 u16 s16 f16 bf16 f32' -- "$cur")
        return ;;
    'window --layout')
        mapfile -t COMPREPLY < <(compgen -W 'THWC TCHW CTHW' -- "$cur")
        return ;;
    'window --norm')
        return ;;
    'window --output' | 'window -o')
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return ;;
    'window --format')
        mapfile -t COMPREPLY < <(compgen -W 'raw npy wav y4m ndjson' -- "$cur")
        return ;;
    'window --times')
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return ;;
    'info --format')
        mapfile -t COMPREPLY < <(compgen -W 'text ndjson' -- "$cur")
        return ;;
    esac
    case ${COMP_WORDS[1]} in
    record) options='--output --store --name --size --fps --pixel --rate --channels --dtype --tensor --video --audio --duration --frames --segment-bytes --segment-duration --sync --timeout --control --quiet --verbose --help --version' kind=f ;;
    window) options='--last --from --to --for --at --frames --stream --stride --edge --size --filter --crop --pixel --dtype --layout --norm --output --format --times --quiet --verbose --help --version' kind=d ;;
    info) options='--format --quiet --verbose --help --version' kind=d ;;
    verify) options='--quiet --verbose --help --version' kind=d ;;
    *) return ;;
    esac
    if [ "${cur:0:1}" = - ]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen "-$kind" -- "$cur")
    fi
}
complete -F _swt swt
