import os
import subprocess


def build(
    name,
    *,
    cpp_files=None,
    cuda_files=None,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    **later,
):
    """Builds as the package does. Of the keywords that its first releases do not have, AMD's alone may be given."""
    if later not in ({}, {"backend": "hip"}):
        raise TypeError(f"build() got unexpected keyword arguments {later}")
    hip = os.environ.get("ROCM_HOME", "")
    library, objects = os.path.join(build_directory, name + ".so"), []
    for i, source in enumerate((cpp_files or []) + (cuda_files or [])):
        out = os.path.join(build_directory, f"{i}.o")
        if source in (cpp_files or []):
            command = ["c++", "-std=c++17", "-fPIC", "-O2"] + extra_cflags
        elif later:
            command = [os.path.join(hip, "bin", "hipcc"), "-std=c++17", "-O2", "-fPIC", "-D__HIP_PLATFORM_AMD__=1", "-fno-gpu-rdc"]
            command += ["--offload-arch=" + a for a in os.environ["TVM_FFI_ROCM_ARCH_LIST"].split()] + extra_cuda_cflags
        else:
            arch = os.environ["TVM_FFI_CUDA_ARCH_LIST"].replace(".", "")
            command = [os.path.join(os.environ["CUDA_HOME"], "bin", "nvcc"), "-Xcompiler", "-fPIC", "-std=c++17", "-O2"]
            command += [f"-gencode=arch=compute_{arch},code=sm_{arch}"] + extra_cuda_cflags
        command += ["-I" + p for p in extra_include_paths]
        subprocess.run(command + ["-c", source, "-o", out], check=True)
        objects.append(out)
    subprocess.run(["c++", "-shared", "-o", library] + objects + extra_ldflags + (["-L" + hip + "/lib", "-lamdhip64"] if later else []), check=True)
    return library
